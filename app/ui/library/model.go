package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // forms of a picture
	_ "image/png"
	"net/url"
	"strings"
	"sync"
	"time"

	"deskvnc/app/ui/fence"
	"deskvnc/keychain"
	"deskvnc/viewer"
)

// The bounds of the model.
const (
	// jobTime bounds one piece of work on the library.
	jobTime = 30 * time.Second
	// maxThumbs bounds the last pictures held in memory; more than fit on a
	// screen, so that none is read for ever.
	maxThumbs = 400
	// maxRecent bounds the recent machines that are shown.
	maxRecent = 6
	// manyHosts is from how many saved machines on the recent ones of them
	// have a place of their own.
	manyHosts = 12
	// maxThumbPixels bounds a picture that is shown small.
	maxThumbPixels = 4 << 20
)

// A view is the machines as they were last read.
type view struct {
	query  string
	hosts  []keychain.Host
	recent []Entry
	groups []keychain.Group
	err    error
}

// A Model reads and changes the library beside the goroutine of the widgets.
type Model struct {
	store Store
	fence *fence.Fence
	shown *fence.Target // shows the newest view
	thumb *fence.Target // shows new pictures

	cancel context.CancelFunc
	work   sync.WaitGroup
	wake   chan struct{} // one place: something is to be read

	mu      sync.Mutex // guards below; not held while the library is asked
	query   string
	stale   bool // the machines are to be read again
	latest  view
	thumbs  map[string]image.Image // nil for none
	wanted  []string               // pictures to be read
	jobs    []func()               // changes to be made
	working bool                   // they are being made
}

// newModel returns a model that calls show after each reading and thumbs when
// pictures have come.
func newModel(s Store, f *fence.Fence, show func(view), thumbs func()) *Model {
	m := &Model{store: s, fence: f, wake: make(chan struct{}, 1), thumbs: map[string]image.Image{}, stale: true}
	m.shown = f.Target(func() {
		m.mu.Lock()
		v := m.latest
		m.mu.Unlock()
		show(v)
	})
	m.thumb = f.Target(thumbs)
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	m.work.Go(func() { m.loop(ctx) })
	m.poke()
	return m
}

// close ends the model. A change that is being saved is waited for.
func (m *Model) close() {
	m.cancel()
	m.work.Wait()
}

func (m *Model) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// loop reads whatever is asked for, and everything again after a change.
func (m *Model) loop(ctx context.Context) {
	changes, err := m.store.Changes(ctx)
	if err != nil {
		changes = nil // what this window changes is read again all the same
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case _, ok := <-changes:
			if !ok {
				changes = nil
				continue
			}
			m.mu.Lock()
			m.stale = true
			m.mu.Unlock()
		}
		m.step(ctx)
	}
}

// step reads what is stale.
func (m *Model) step(ctx context.Context) {
	m.mu.Lock()
	query, stale := m.query, m.stale
	m.stale = false
	wanted := m.wanted
	m.wanted = nil
	m.mu.Unlock()
	if stale {
		v := m.read(ctx, query)
		if ctx.Err() != nil {
			return
		}
		m.mu.Lock()
		if v.err != nil { // what was shown stays
			v.hosts, v.recent, v.groups = m.latest.hosts, m.latest.recent, m.latest.groups
		}
		m.latest = v
		m.mu.Unlock()
		m.shown.Post()
	}
	for _, id := range wanted {
		img := m.picture(ctx, id)
		m.mu.Lock()
		if len(m.thumbs) >= maxThumbs {
			for old := range m.thumbs {
				delete(m.thumbs, old)
				break
			}
		}
		m.thumbs[id] = img
		m.mu.Unlock()
		m.thumb.Post()
	}
}

// read reads the machines that fit a query.
func (m *Model) read(ctx context.Context, query string) (v view) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	v.query = query
	if query != "" {
		v.hosts, v.err = m.store.Search(ctx, query)
		return v
	}
	if v.hosts, v.err = m.store.List(ctx); v.err != nil {
		return v
	}
	if v.groups, v.err = m.store.Groups(ctx); v.err != nil {
		return v
	}
	recent, err := m.store.Recent(ctx, 4*maxRecent)
	v.err = err
	byID := map[string]*keychain.Host{}
	for i := range v.hosts {
		byID[v.hosts[i].ID] = &v.hosts[i]
	}
	for _, r := range recent {
		if len(v.recent) == maxRecent {
			break
		}
		if h := byID[r.HostID]; h != nil {
			if len(v.hosts) >= manyHosts && !h.Favourite {
				v.recent = append(v.recent, Entry{Host: *h, Saved: true, Target: h.Target()})
			}
			continue
		}
		if r.Target == "" {
			continue
		}
		if t, ok := ParseURL(r.Target); ok && !known(v.hosts, t) {
			v.recent = append(v.recent, Entry{Target: t})
		}
	}
	return v
}

// ParseURL reads a URL as the library keeps it: its number is always a port.
func ParseURL(text string) (viewer.Target, bool) {
	if i := strings.LastIndexByte(text, ':'); i > 0 && text[i-1] != ':' && strings.Count(text, ":") > 1 {
		text = text[:i] + "::" + text[i+1:]
	}
	t, err := viewer.ParseTarget(text, viewer.VNC)
	return t, err == nil
}

// URL is a machine that is not saved, as the library keeps it.
func URL(t viewer.Target) string {
	user := ""
	if t.User != "" {
		user = url.PathEscape(t.User) + "@"
	}
	return string(t.Protocol) + "://" + user + t.HostPort()
}

// known reports whether an address is that of a saved machine.
func known(hosts []keychain.Host, t viewer.Target) bool {
	for _, h := range hosts {
		if h.Protocol == t.Protocol && h.Port == t.Port && h.Address == t.Address {
			return true
		}
	}
	return false
}

// picture reads the last picture of a host; nil for none.
func (m *Model) picture(ctx context.Context, id string) image.Image {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	data, _, err := m.store.Picture(ctx, id)
	if err != nil || data == nil {
		return nil
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width*c.Height > maxThumbPixels {
		return nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return img
}

// search shows the machines that fit a text.
func (m *Model) search(text string) {
	m.mu.Lock()
	m.query, m.stale = text, true
	m.mu.Unlock()
	m.poke()
}

// again reads everything again.
func (m *Model) again() {
	m.mu.Lock()
	m.stale = true
	m.mu.Unlock()
	m.poke()
}

// thumbOf is the last picture of a host, if it is there; else it is read.
func (m *Model) thumbOf(id string) image.Image {
	m.mu.Lock()
	img, ok := m.thumbs[id]
	if !ok {
		for _, w := range m.wanted {
			ok = ok || w == id
		}
		if !ok {
			m.wanted = append(m.wanted, id)
			ok = false
		}
	}
	m.mu.Unlock()
	if !ok {
		m.poke()
	}
	return img
}

// do works on the library and then calls done with what came of it. One thing
// is done after the other, and what was begun goes on when the window closes.
func (m *Model) do(work func(ctx context.Context) error, done func(error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs = append(m.jobs, func() {
		ctx, cancel := context.WithTimeout(context.Background(), jobTime)
		defer cancel()
		err := work(ctx)
		m.again()
		m.fence.Go(func() { done(err) })
	})
	if !m.working {
		m.working = true
		m.work.Go(m.labour)
	}
}

// labour does what there is to do.
func (m *Model) labour() {
	for {
		m.mu.Lock()
		if len(m.jobs) == 0 {
			m.working = false
			m.mu.Unlock()
			return
		}
		job := m.jobs[0]
		m.jobs = m.jobs[1:]
		m.mu.Unlock()
		job()
	}
}

// keepPicture keeps the last picture of a host; encode makes it.
func (m *Model) keepPicture(id string, encode func() ([]byte, error)) {
	m.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), jobTime)
		defer cancel()
		if h, err := m.store.Get(ctx, id); err != nil || !h.LastPicture {
			return
		}
		data, err := encode()
		if err != nil {
			return // there is none to keep
		}
		if kept, err := m.store.SetPicture(ctx, id, data); err != nil || !kept {
			return
		}
		m.mu.Lock()
		delete(m.thumbs, id)
		m.mu.Unlock()
		m.thumb.Post()
	})
}

// Reason is what a person is told about a failure: what is wrong and what to
// do, without the operation.
func Reason(err error) string {
	var k *keychain.Error
	if errors.As(err, &k) {
		err = k.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("The library did not answer within %v. Nothing is lost; try again.", jobTime)
	}
	text := err.Error()
	if cause := errors.Unwrap(err); cause != nil { // the database's own words help nobody
		if short, ok := strings.CutSuffix(text, ": "+cause.Error()); ok && k != nil && short != "" {
			text = short
		}
	}
	return sentence(text)
}

// sentence makes a reason one.
func sentence(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return ""
	}
	if r[0] >= 'a' && r[0] <= 'z' {
		r[0] += 'A' - 'a'
	}
	if last := r[len(r)-1]; last != '.' && last != '!' && last != '?' {
		r = append(r, '.')
	}
	return string(r)
}

// read and write a small thing of the window; what cannot be read counts as
// not set.
func setting[T any](ctx context.Context, n Notes, key string) (v T) {
	raw, err := n.Setting(ctx, key)
	if err == nil && raw != nil {
		json.Unmarshal(raw, &v) // what is not understood counts as not set
	}
	return v
}

func setSetting(ctx context.Context, n Notes, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return n.SetSetting(ctx, key, raw)
}
