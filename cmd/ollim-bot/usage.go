package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
)

// mistake rewords a parser error. It adds the command, which the parser's own messages
// leave out, what the command needs, and what was probably meant.
func mistake(err error) error {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return &console.UsageError{Text: clean.Line(err.Error())}
	}
	at, rest := place(parse.Context)
	name := nameOf(at)
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "unexpected argument ") && len(rest) > 0 && len(at.Children) > 0:
		text = unknown(name, rest[0], commandsOf(at))
	case strings.HasPrefix(text, "unexpected argument ") && len(rest) > 0:
		text = fmt.Sprintf(textExtra, name, rest[0])
	case strings.HasPrefix(text, "expected one of "):
		text = fmt.Sprintf(textNeedsCommand, name, orList(commandsOf(at)))
	case strings.HasPrefix(text, "expected "):
		text = fmt.Sprintf(textNeeds, name, strings.Trim(strings.TrimPrefix(text, "expected "), `"`))
	case strings.Contains(text, ": expected a"): // --lines: expected a valid 64 bit int but got "x"
		flag, value, _ := strings.Cut(text, ": expected a")
		_, value, _ = strings.Cut(value, " but got ")
		text = flag + ": " + fmt.Sprintf(textNoNumber, value)
		if strings.Contains(value, "EOL") {
			text = flag + ": " + textNeedsValue
		}
	}
	return &console.UsageError{Text: clean.Line(text), Help: name} // the message quotes the arguments
}

// nameOf is the name of a command as the user types it: "budget set".
func nameOf(n *kong.Node) string {
	if n == nil || n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(nameOf(n.Parent) + " " + n.Name)
}

// place returns the command that the words led to, and the rest of the words. If that is
// the default command of a group and the user did not type its name, it is the group.
func place(ctx *kong.Context) (at *kong.Node, rest []string) {
	for _, step := range ctx.Path {
		if node := step.Node(); node != nil && (node.Parent == nil || node.Parent.DefaultCmd != node || slices.Contains(ctx.Args, node.Name)) {
			at = node
		}
		rest = step.Remainder()
	}
	return at, rest
}

// unknown reports an unknown command, and which one was probably meant.
func unknown(group, word string, candidates []string) string {
	full := func(word string) string { return strings.TrimSpace(group + " " + word) }
	if there := command.Elsewhere(full(word)); there != "" {
		return there
	}
	text := fmt.Sprintf(textUnknownCommand, full(word))
	if near := words.Nearest(word, candidates); near != "" {
		text += fmt.Sprintf(textDidYouMean, full(near))
	}
	return text
}

// commandsOf returns the names of the visible commands below a node.
func commandsOf(n *kong.Node) []string {
	var names []string
	for _, child := range n.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

// orList joins a list for a sentence: "install, status or logs".
func orList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// textValue reads a text value. The parser alone would also accept an empty value, or the
// next flag.
func textValue(ctx *kong.DecodeContext, target reflect.Value) error {
	token := ctx.Scan.Pop()
	value := token.String()
	flag := ctx.Value.Flag
	switch {
	case flag == nil: // an argument
	case token.IsEOL():
		return errors.New(textNeedsValue)
	case value == "" && ctx.Value.Tag.Has("filled"):
		return errors.New(textNeedsValue)
	case token.Type == kong.UntypedToken && strings.HasPrefix(value, "--") && !strings.ContainsAny(value, " \n"):
		return fmt.Errorf(textNeedsValueNot, flag.Name, value)
	}
	target.SetString(value)
	return nil
}
