package sshconf

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"deskvnc/viewer/sshdial/knownhosts"
)

// match judges the criteria of a Match line: all of them hold. The name is that
// of the machine so far, after HostName.
func (r *reader) match(args []string) (bool, error) {
	result := true
	for i := 0; i < len(args); i++ {
		word, not := strings.CutPrefix(strings.ToLower(args[i]), "!")
		word, value, has := strings.Cut(word, "=")
		if has {
			value = args[i][strings.IndexByte(args[i], '=')+1:]
		}
		var ok bool
		switch word {
		case "all":
			if len(args) != 1 && !(len(args) == 2 && i == 1) {
				return false, errors.New("in a Match line, all stands alone")
			}
			ok = true
		case "canonical":
			ok = r.second
		case "final":
			r.final = true
			ok = r.second
		default:
			if !has {
				if i++; i == len(args) {
					return false, fmt.Errorf("the %s of a Match line has no value", word)
				}
				value = args[i]
			}
			if !result && !not && word == "exec" {
				continue // it would be run for nothing
			}
			var err error
			if ok, err = r.criterion(word, value, not); err != nil {
				return false, err
			}
		}
		if ok == not {
			result = false
		}
	}
	return result, nil
}

// criterion judges one that has a value.
func (r *reader) criterion(word, value string, not bool) (bool, error) {
	switch word {
	case "host":
		return knownhosts.MatchList(r.hostName(), value), nil
	case "originalhost":
		return knownhosts.MatchList(r.q.Host, value), nil
	case "user":
		user := r.q.User
		if user == "" {
			user = r.first("user")
		}
		if user == "" {
			user = r.q.LocalUser
		}
		return matchUsers(user, value), nil
	case "localuser":
		return matchUsers(r.q.LocalUser, value), nil
	case "exec":
		if r.q.Exec == nil {
			r.notice("the SSH configuration asks by Match exec, which is run for a person only: that part was left out")
			return not, nil // whatever it says, it does not count
		}
		command := expand(value, r.tokens())
		return r.q.Exec(r.ctx, command), nil
	case "tagged", "localnetwork", "sessiontype", "command", "version":
		r.notice("the SSH configuration asks by Match %s, which is not known here: that part was left out", word)
		return not, nil
	}
	return false, fmt.Errorf("the %s of a Match line is not known", word)
}

// matchUsers is the rule of patterns for names in which case counts.
func matchUsers(name, patterns string) bool {
	return matchHosts(name, strings.Split(patterns, ","))
}

// tokens are those of Match exec and of the files.
func (r *reader) tokens() map[byte]string {
	host, _ := os.Hostname()
	short, _, _ := strings.Cut(host, ".")
	user := r.q.User
	if user == "" {
		user = r.first("user")
	}
	if user == "" {
		user = r.q.LocalUser
	}
	return map[byte]string{
		'h': r.hostName(), 'n': r.q.Host, 'p': fmt.Sprint(r.portNow()), 'r': user, 'u': r.q.LocalUser,
		'd': r.q.Home, 'L': short, 'l': host, 'i': fmt.Sprint(os.Getuid()), 'k': r.keyAlias(),
	}
}

func (r *reader) keyAlias() string {
	if a := r.first("hostkeyalias"); a != "" {
		return a
	}
	return r.q.Host
}

func (r *reader) portNow() int {
	if r.q.Port != 0 {
		return r.q.Port
	}
	if p, err := port(r.first("port")); err == nil {
		return p
	}
	return 22
}

func (r *reader) first(key string) string {
	if v := r.set[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}
