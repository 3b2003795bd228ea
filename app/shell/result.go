package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"deskvnc/control"
)

// A result is what a tool answered.
type result struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     []byte `json:"data"`
		MIMEType string `json:"mimeType"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

func parse(answer []byte) (result, error) {
	var r result
	if err := json.Unmarshal(answer, &r); err != nil {
		return r, errors.New("the answer makes no sense: install the same version of dvv and DeskVNC")
	}
	return r, nil
}

// refusal is the error of a result that is one.
func (r result) refusal() *control.Refused {
	var f struct {
		Code    control.Code `json:"code"`
		Message string       `json:"message"`
		Hint    string       `json:"hint"`
	}
	if err := json.Unmarshal(r.Structured, &f); err != nil || f.Code == "" {
		return control.Refuse(control.Internal, r.text())
	}
	return &control.Refused{Code: f.Code, Message: f.Message, Hint: f.Hint}
}

// text is the part of a result for people: without the structured form that
// is repeated in its first block.
func (r result) text() string {
	var lines []string
	for _, c := range r.Content {
		if c.Type != "text" {
			continue
		}
		t := c.Text
		if i := strings.LastIndex(t, "\n\n```dvv\n"); i >= 0 && strings.HasSuffix(t, "\n```") {
			t = t[:i]
		}
		if t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines, "\n")
}

// spelling has the names of tools in the contract's texts read as commands.
var spelling = func() *strings.Replacer {
	rows := control.Rows()
	sort.Slice(rows, func(i, j int) bool { return len(rows[i].Name) > len(rows[j].Name) })
	var pairs []string
	for _, r := range rows {
		pairs = append(pairs, r.Name, "dvv "+r.CLI.Verb)
	}
	return strings.NewReplacer(pairs...)
}()

// plain is a text of ours for a person at a command line.
func plain(s string) string { return spelling.Replace(s) }

// printable drops what could move the cursor or turn the text around.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return -1
	}
	return r
}

// screenText is text from elsewhere that a terminal may be given: its lines
// stay.
func screenText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, s)
}

// refused shows a refusal that came as an error.
func (c *call) refused(err error) error {
	var r *control.Refused
	if !errors.As(err, &r) {
		return failed(err)
	}
	answer, err := control.RefusalResult(r).Encode()
	if err != nil {
		return failed(err)
	}
	res, err := parse(answer)
	if err != nil {
		return failed(err)
	}
	return c.show(res)
}

// show prints a result.
func (c *call) show(r result) error {
	out := c.cmd.OutOrStdout()
	if r.IsError {
		refusal := r.refusal()
		e := &exit{code: refusal.Code.Exit(), text: screenText(plain(r.text())), err: refusal}
		if c.json {
			e.text = ""
			if err := printLine(out, string(r.Structured)); err != nil {
				return failed(err)
			}
		}
		return e
	}
	paths, err := c.pictures(r)
	if err != nil {
		return failed(err)
	}
	if c.out == "-" {
		return nil
	}
	if c.json {
		line, err := withPaths(r.Structured, paths)
		if err != nil {
			return failed(err)
		}
		return failed(printLine(out, line))
	}
	text := screenText(plain(r.text()))
	if table, err := c.table(r); err != nil {
		return failed(err)
	} else if table != "" {
		text = table
	}
	if text != "" {
		if err := printLine(out, text); err != nil {
			return failed(err)
		}
	}
	for _, p := range paths {
		if err := printLine(out, p); err != nil {
			return failed(err)
		}
	}
	return nil
}

func printLine(w io.Writer, s string) error {
	_, err := fmt.Fprintln(w, strings.TrimSuffix(s, "\n"))
	return err
}

// withPaths adds the files of pictures to a result's structured form.
func withPaths(structured json.RawMessage, paths []string) (string, error) {
	s := strings.TrimSpace(string(structured))
	if s == "" {
		s = "{}"
	}
	if len(paths) == 0 {
		return s, nil
	}
	name, value := "imagePath", any(paths[0])
	if len(paths) > 1 {
		name, value = "imagePaths", paths
	}
	v, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	comma := ","
	if s == "{}" {
		comma = ""
	}
	return strings.TrimSuffix(s, "}") + comma + `"` + name + `":` + string(v) + "}", nil
}

// pictures writes the pictures of a result to files and gives their paths.
func (c *call) pictures(r result) (paths []string, err error) {
	for _, k := range r.Content {
		if k.Type != "image" {
			continue
		}
		path := c.out
		switch path {
		case "-":
			if _, err := c.cmd.OutOrStdout().Write(k.Data); err != nil {
				return nil, err
			}
			continue
		case "":
			path, err = tempPicture(k.Data, k.MIMEType)
		default:
			err = os.WriteFile(path, k.Data, 0o644)
		}
		if err != nil {
			return nil, fmt.Errorf("the picture cannot be written: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// tempPicture writes a picture to a new file that only the user can read.
func tempPicture(data []byte, mime string) (string, error) {
	ext := ".png"
	if mime == "image/jpeg" {
		ext = ".jpg"
	}
	f, err := os.CreateTemp("", "dvv-screen-*"+ext)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// table shows lists of machines and sessions as a person reads them.
func (c *call) table(r result) (string, error) {
	var rows [][]string
	switch c.row.CLI.Verb {
	case "hosts":
		var l struct {
			Hosts []control.HostRecord `json:"hosts"`
		}
		if err := json.Unmarshal(r.Structured, &l); err != nil {
			return "", err
		}
		if len(l.Hosts) == 0 {
			return "No machines; save one with: dvv hosts add NAME ADDRESS", nil
		}
		rows = append(rows, []string{"NAME", "PROTOCOL", "ADDRESS", "PASSWORD", "ID"})
		for _, h := range l.Hosts {
			rows = append(rows, []string{h.Label, string(h.Protocol), hostPort(h), map[bool]string{true: "stored", false: "-"}[h.CredentialStored], h.HostID})
		}
	case "limbs":
		var l limbList
		if err := json.Unmarshal(r.Structured, &l); err != nil {
			return "", err
		}
		if len(l.Limbs)+len(l.Available) == 0 {
			return "Nothing is open; open a machine with: dvv open NAME", nil
		}
		rows = append(rows, []string{"ID", "MACHINE", "STATE", "SIZE", "DRIVER"})
		for _, k := range l.Limbs {
			driver := "-"
			if k.Lease.HolderLabel != nil {
				driver = *k.Lease.HolderLabel
			}
			rows = append(rows, []string{k.LimbID, k.Host, string(k.State.State), fmt.Sprintf("%dx%d", k.Size.Width, k.Size.Height), driver})
		}
		for _, k := range l.Available {
			rows = append(rows, []string{k.LimbID, k.Host, string(k.State.State), "-", "(not attached)"})
		}
	case "group list":
		var l struct {
			Groups []struct {
				GroupID string         `json:"groupId"`
				Members []control.Card `json:"members"`
			} `json:"groups"`
		}
		if err := json.Unmarshal(r.Structured, &l); err != nil {
			return "", err
		}
		if len(l.Groups) == 0 {
			return "No group is open; open one with: dvv group open NAME ...", nil
		}
		rows = append(rows, []string{"GROUP", "MEMBER", "ID", "MACHINE", "STATE"})
		for _, g := range l.Groups {
			for i, k := range g.Members {
				rows = append(rows, []string{g.GroupID, strconv.Itoa(i), k.LimbID, k.Host, string(k.State.State)})
			}
		}
	}
	if rows == nil {
		return "", nil
	}
	return columns(rows)
}

// columns sets rows of words out in columns.
func columns(rows [][]string) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = strings.Map(printable, row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(slices.Clone(lines), "\n"), nil
}
