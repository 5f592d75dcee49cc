package powertest

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recording contains a program's changes of a directory.
type Recording struct {
	root    string
	nodes   []*node // the first is the directory itself
	changes []change
	marks   []Mark
}

// Mark is a line that the program wrote to the witness. Its content was true, and promised, when
// the program had made the first At changes.
type Mark struct {
	At   int
	Text string
}

// node is a file, a folder or a symbolic link, with its content before the recording.
type node struct {
	folder  bool
	target  string // of a link
	data    []byte
	entries map[string]int // by name: the index of a node
	opened  map[string]int // while reading: the position of each descriptor
}

// change is one effect of a call.
type change struct {
	does   string // "write", "truncate", "sync", "enter", "leave", "rename"
	node   int    // whose data or entries change
	name   string
	to     int // of enter and rename: the node; of rename: its new folder
	toName string
	offset int
	data   []byte
	begins int // of sync: how many changes had been made when it began
}

// Read reads the recording of a program that wrote lines to the witness. before is a copy of the
// directory as the program found it.
func Read(trace io.Reader, root, before, witness string) (*Recording, error) {
	list, err := calls(trace)
	if err != nil {
		return nil, err
	}
	r := &Recording{root: root}
	if _, err := r.load(before); err != nil {
		return nil, err
	}
	live := &reader{r: r, witness: witness, tree: cloneTree(r.nodes)}
	counts := make([]int, 0, len(list)+1)
	for _, c := range list {
		counts = append(counts, len(r.changes))
		if err := live.read(c, counts[min(c.begins, len(counts)-1)]); err != nil {
			return nil, fmt.Errorf("%w, in %s(%.300s)", err, c.name, strings.Join(c.args, ", "))
		}
	}
	return r, nil
}

// Changes returns the number of changes.
func (r *Recording) Changes() int { return len(r.changes) }

// Marks returns the lines of the witness, in order.
func (r *Recording) Marks() []Mark { return r.marks }

// load adds a file or folder of the copy.
func (r *Recording) load(at string) (int, error) {
	info, err := os.Lstat(at)
	if err != nil {
		return 0, err
	}
	n := &node{folder: info.IsDir()}
	i := len(r.nodes)
	r.nodes = append(r.nodes, n)
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		n.target, err = os.Readlink(at)
		return i, err
	case !n.folder:
		n.data, err = os.ReadFile(at)
		return i, err
	}
	n.entries = map[string]int{}
	list, err := os.ReadDir(at)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if n.entries[e.Name()], err = r.load(filepath.Join(at, e.Name())); err != nil {
			return 0, err
		}
	}
	return i, nil
}

func cloneTree(nodes []*node) []*node {
	out := make([]*node, len(nodes))
	for i, n := range nodes {
		c := *n
		c.data = slices.Clone(n.data)
		if n.folder {
			c.entries = make(map[string]int, len(n.entries))
			for name, to := range n.entries {
				c.entries[name] = to
			}
		}
		out[i] = &c
	}
	return out
}

// apply makes a change in a tree. Nodes it refers to may be missing because an earlier change was
// lost; then it does nothing.
func (c change) apply(tree []*node) {
	n := tree[c.node]
	switch c.does {
	case "write":
		n.data = append(n.data, make([]byte, max(0, c.offset+len(c.data)-len(n.data)))...)
		copy(n.data[c.offset:], c.data)
	case "truncate":
		n.data = append(n.data, make([]byte, max(0, c.offset-len(n.data)))...)[:c.offset]
	case "enter":
		n.entries[c.name] = c.to
	case "leave":
		delete(n.entries, c.name)
	case "rename":
		if moved, ok := n.entries[c.name]; ok {
			delete(n.entries, c.name)
			tree[c.to].entries[c.toName] = moved
		}
	}
}

// Loss describes which of the changes that were not yet durable a power cut loses.
type Loss int

// The losses. Within one folder, file systems keep the order of changes; between folders, and
// between names and data, only fsync does.
const (
	Nothing Loss = iota // as after a kill
	Data                // the names exist, the bytes are lost
	Names               // the bytes exist, the names are lost
	All
	Some // any part of each folder's names and of each file's bytes, the last write torn
)

// Cut writes the directory's content after a power cut following the first n changes.
func (r *Recording) Cut(to string, n int, loss Loss, random *rand.Rand) error {
	tree := cloneTree(r.nodes)
	kept := r.kept(n, loss, random)
	for i, c := range r.changes[:n] {
		if kept[i] > 0 {
			if c.does == "write" {
				c.data = c.data[:min(kept[i]-1, len(c.data))]
			}
			c.apply(tree)
		}
	}
	return write(tree, 0, to)
}

// kept returns how much of each of the first n changes is kept: 0 is nothing, and one more than the
// number of bytes is everything.
func (r *Recording) kept(n int, loss Loss, random *rand.Rand) []int {
	durable := make([]int, len(r.nodes)) // by node: how many changes are durable
	for _, c := range r.changes[:n] {
		if c.does == "sync" {
			durable[c.node] = max(durable[c.node], c.begins)
		}
	}
	at := make([]int, len(r.nodes)) // by node: where its changes are cut off
	for i, n := range r.nodes {
		at[i] = len(r.changes)
		if loss == All || loss == Data && !n.folder || loss == Names && n.folder {
			at[i] = 0
		}
	}
	if loss == Some {
		pending := make([][]int, len(r.nodes))
		for i, c := range r.changes[:n] {
			if c.does != "sync" && i >= durable[c.node] {
				pending[c.node] = append(pending[c.node], i)
			}
		}
		for i, list := range pending {
			if len(list) > 0 {
				at[i] = append(list, n)[random.IntN(len(list)+1)]
			}
		}
	}
	kept := make([]int, n)
	for i, c := range r.changes[:n] {
		whole := len(c.data) + 1
		there := max(durable[c.node], at[c.node])
		if c.does == "rename" { // it counts once both folders have it
			there = min(there, max(durable[c.to], at[c.to]))
		}
		switch {
		case i < there:
			kept[i] = whole
		case loss == Some && i == at[c.node] && c.does == "write":
			kept[i] = random.IntN(whole)
		}
	}
	return kept
}

// write writes a node of a tree.
func write(tree []*node, i int, to string) error {
	n := tree[i]
	switch {
	case n.target != "":
		return os.Symlink(n.target, to)
	case !n.folder:
		return os.WriteFile(to, n.data, 0o600)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for name, child := range n.entries {
		if err := write(tree, child, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}
