package powertest

import (
	"fmt"
	"path"
	"strings"
)

// reader converts calls to changes, and keeps a tree up to date.
type reader struct {
	r       *Recording
	witness string
	tree    []*node
}

// add appends a change and makes it.
func (x *reader) add(c change) {
	x.r.changes = append(x.r.changes, c)
	c.apply(x.tree)
}

// within returns the part of a path below the directory, and whether the path is below it.
func (x *reader) within(at string) (string, bool) {
	if at == x.r.root {
		return ".", true
	}
	return strings.CutPrefix(at, x.r.root+"/")
}

// find returns the node at a path.
func (x *reader) find(at string) (int, bool) {
	rel, ok := x.within(at)
	if !ok {
		return 0, false
	}
	i := 0
	for part := range strings.SplitSeq(rel, "/") {
		if part == "." {
			continue
		}
		if i, ok = x.tree[i].entries[part]; !ok {
			return 0, false
		}
	}
	return i, true
}

// parent returns the folder of a path.
func (x *reader) parent(at string) (folder int, name string, ok bool) {
	folder, ok = x.find(path.Dir(at))
	return folder, path.Base(at), ok
}

// make adds a new node at a path.
func (x *reader) make(at string, n node) {
	in, name, ok := x.parent(at)
	if !ok {
		return
	}
	if n.folder {
		n.entries = map[string]int{}
	}
	x.r.nodes, x.tree = append(x.r.nodes, &n), append(x.tree, cloneTree([]*node{&n})...)
	x.add(change{does: "enter", node: in, name: name, to: len(x.tree) - 1})
}

// at maps a call without directory descriptors to the one with them: rename to renameat.
var at = map[string]string{
	"open": "openat", "creat": "openat", "openat2": "openat", "rename": "renameat", "renameat2": "renameat", "link": "linkat",
	"symlink": "symlinkat", "unlink": "unlinkat", "rmdir": "unlinkat", "mkdir": "mkdirat",
}

// read adds the changes of a call. begins is how many changes had been made when the call began.
func (x *reader) read(c call, begins int) error {
	name, args := c.name, c.args
	if full, short := at[name]; short {
		if !strings.HasSuffix(name, "at") && !strings.HasSuffix(name, "at2") {
			args = withFolders(name, args)
		}
		name = full
	}
	switch name {
	case "openat":
		return x.open(args, c.ret)
	case "renameat":
		return x.rename(args)
	case "mkdirat", "unlinkat":
		p, err := place(args[0], args[1])
		if err != nil {
			return err
		}
		if name == "mkdirat" {
			x.make(p, node{folder: true})
		} else if in, base, ok := x.parent(p); ok {
			x.add(change{does: "leave", node: in, name: base})
		}
	case "symlinkat":
		p, err := place(args[1], args[2])
		if err != nil {
			return err
		}
		target, err := unquote(args[0])
		if err != nil {
			return err
		}
		if _, inside := x.within(p); inside {
			x.make(p, node{target: string(target)})
		}
	case "linkat":
		if p, err := place(args[2], args[3]); err != nil {
			return err
		} else if _, inside := x.within(p); inside {
			return fmt.Errorf("powertest: hard links are not understood")
		}
	default:
		return x.data(c, begins)
	}
	return nil
}

// withFolders adds the folder arguments that the older calls lack.
func withFolders(name string, args []string) []string {
	here := "AT_FDCWD<>"
	switch name {
	case "rename", "link":
		return append([]string{here, args[0], here}, args[1:]...)
	case "symlink":
		return []string{args[0], here, args[1]}
	}
	return append([]string{here}, args...)
}

func (x *reader) open(args []string, ret string) error {
	p, err := place(args[0], args[1])
	if _, at := file(ret); at != "" {
		p = at // links are followed
	}
	if _, inside := x.within(p); err != nil || !inside {
		return err
	}
	flags := strings.Join(args[2:], ",")
	i, there := x.find(p)
	if !there {
		if !strings.Contains(flags, "O_CREAT") {
			return nil // created by something that is not recorded, such as a lock
		}
		x.make(p, node{})
		i, _ = x.find(p)
	} else if strings.Contains(flags, "O_TRUNC") && len(x.tree[i].data) > 0 {
		x.add(change{does: "truncate", node: i})
	}
	number, _ := file(ret)
	if x.tree[i].opened == nil {
		x.tree[i].opened = map[string]int{}
	}
	x.tree[i].opened[number] = 0
	if strings.Contains(flags, "O_APPEND") {
		x.tree[i].opened[number] = -1
	}
	return nil
}

func (x *reader) rename(args []string) error {
	from, err := place(args[0], args[1])
	if err != nil {
		return err
	}
	to, err := place(args[2], args[3])
	if err != nil {
		return err
	}
	in, name, ok := x.parent(from)
	out, toName, ok2 := x.parent(to)
	switch {
	case ok != ok2:
		return fmt.Errorf("powertest: a rename over the edge of the directory is not understood")
	case ok && len(args) > 4 && strings.Contains(args[4], "EXCHANGE"):
		return fmt.Errorf("powertest: an exchange is not understood")
	case ok:
		x.add(change{does: "rename", node: in, name: name, to: out, toName: toName})
	}
	return nil
}

// data reads calls on open files.
func (x *reader) data(c call, begins int) error {
	descriptor, p := file(c.args[0])
	if p == x.witness && c.name == "write" {
		text, err := unquote(c.args[1])
		x.r.marks = append(x.r.marks, Mark{At: len(x.r.changes), Text: string(text)})
		return err
	}
	i, ok := x.find(p)
	if !ok {
		return nil
	}
	n := x.tree[i]
	switch c.name {
	case "close":
		delete(n.opened, descriptor)
	case "lseek":
		at, err := number(c.ret)
		if offset, known := n.opened[descriptor]; known && offset >= 0 {
			n.opened[descriptor] = at
		}
		return err
	case "fsync", "fdatasync":
		x.add(change{does: "sync", node: i, begins: begins})
	case "ftruncate":
		size, err := number(c.args[1])
		x.add(change{does: "truncate", node: i, offset: size})
		return err
	case "write", "pwrite64":
		return x.write(c, i, descriptor)
	default:
		return fmt.Errorf("powertest: %s is not understood", c.name)
	}
	return nil
}

func (x *reader) write(c call, i int, descriptor string) error {
	bytes, err := unquote(c.args[1])
	if err != nil {
		return err
	}
	written, err := number(c.ret)
	if err != nil {
		return err
	}
	n := x.tree[i]
	offset, known := n.opened[descriptor]
	switch {
	case c.name == "pwrite64":
		if offset, err = number(c.args[3]); err != nil {
			return err
		}
	case !known || offset < 0: // it appends, or another process opened it
		offset = len(n.data)
	default:
		n.opened[descriptor] = offset + written
	}
	x.add(change{does: "write", node: i, offset: offset, data: bytes[:written]})
	return nil
}
