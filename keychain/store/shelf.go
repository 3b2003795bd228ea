package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"

	"deskvnc/keychain"
)

// MaxFound bounds the hosts that one search returns.
const MaxFound = 1000

// A shelf is the hosts as they were when they were last read. Before each use,
// what has changed since, by whichever process, is read again and nothing else.
type shelf struct {
	mu     sync.Mutex       // guards below; held while the database is read
	change int64            // the last one that is known here
	books  map[string]*book // by id
	order  []*book
}

// A book is one host on the shelf. It is never changed.
type book struct {
	host keychain.Host
	key  string // sorts it
	text string // what a search looks through, in small letters
}

// books returns all hosts in order, as they are now. The slice is not to be
// changed.
func (s *Store) books(ctx context.Context) ([]*book, error) {
	sh := &s.shelf
	sh.mu.Lock()
	defer sh.mu.Unlock()
	var change int64
	if err := s.db.QueryRowContext(ctx, `SELECT value FROM counters WHERE name = 'changes'`).Scan(&change); err != nil {
		return nil, err
	}
	if change <= sh.change && sh.books != nil {
		return sh.order, nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+hostColumns+`, deleted, change FROM hosts WHERE change > ?`, sh.change)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	// The old ones stay as they are until all is read.
	books := maps.Clone(sh.books)
	if books == nil {
		books = make(map[string]*book)
	}
	for rows.Next() {
		var deleted sql.NullInt64
		var at int64
		h, err := scan(rows, &deleted, &at)
		if err != nil {
			return nil, err
		}
		// A change by another process may have come after the counter was read.
		change = max(change, at)
		if deleted.Valid {
			delete(books, h.ID)
		} else {
			books[h.ID] = newBook(h)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	sh.books, sh.change = books, change
	sh.order = slices.SortedFunc(maps.Values(books), func(a, b *book) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.host.ID, b.host.ID))
	})
	return sh.order, nil
}

func newBook(h keychain.Host) *book {
	b := &book{host: h, key: "1" + strings.ToLower(h.Name)}
	if h.Favourite {
		b.key = "0" + b.key[1:]
	}
	// One line a field, so that a word of a search never spans two.
	parts := append([]string{h.Name, h.Address, h.User, string(h.Protocol)}, h.Tags...)
	b.text = strings.ToLower(strings.Join(append(parts, h.Notes), "\n"))
	return b
}

// copy gives the host away.
func (b *book) copy() keychain.Host {
	h := b.host
	h.Tags, h.Via, h.Encodings = slices.Clone(h.Tags), slices.Clone(h.Via), slices.Clone(h.Encodings)
	h.SSH.Tunnels = slices.Clone(h.SSH.Tunnels)
	return h
}

// List returns all hosts, favourites first, then by name.
func (s *Store) List(ctx context.Context) ([]keychain.Host, error) {
	books, err := s.books(ctx)
	if err != nil {
		return nil, s.fail("list hosts", err)
	}
	out := make([]keychain.Host, len(books))
	for i, b := range books {
		out[i] = b.copy()
	}
	return out, nil
}

// Search returns the hosts that hold every word of a text, in small or capital
// letters, in their name, address, user, protocol, tags or notes. Favourites
// come first, then those whose name begins with the first word, then by name;
// at most MaxFound.
func (s *Store) Search(ctx context.Context, text string) ([]keychain.Host, error) {
	books, err := s.books(ctx)
	if err != nil {
		return nil, s.fail("search hosts", err)
	}
	words := strings.Fields(strings.ToLower(text))
	var ranks [4][]*book // favourites and others, by whether the name begins so
	for _, b := range books {
		rank := b.rank(words)
		if rank >= 0 && len(ranks[rank]) < MaxFound {
			ranks[rank] = append(ranks[rank], b)
		}
	}
	found := slices.Concat(ranks[:]...)
	found = found[:min(len(found), MaxFound)]
	out := make([]keychain.Host, len(found))
	for i, b := range found {
		out[i] = b.copy()
	}
	return out, nil
}

// rank is how well a host fits the words, 0 the best, or -1.
func (b *book) rank(words []string) int {
	for _, w := range words {
		if !strings.Contains(b.text, w) {
			return -1
		}
	}
	rank := 0
	if !b.host.Favourite {
		rank = 2
	}
	if len(words) > 0 && !strings.HasPrefix(b.text, words[0]) {
		rank++
	}
	return rank
}
