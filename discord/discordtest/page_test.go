package discordtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/contributing/discord-rules.md")

const (
	thePage  = "../../docs/contributing/discord-rules.md"
	pageHead = `# The fake Discord's rules

For contributors. The tests run against a Discord on loopback, [discord/discordtest](../../discord/discordtest), that is as strict
as the real one. These are its rules beyond Discord's description of its API, from the comments in its code, each with the page of
Discord's documentation that has it. ` + "`go test ./discord/discordtest -run Page -update`" + ` writes this page; the test fails while
it and the code differ.

To add a rule: write it, name its page in its comment, such as "(resources/message#create-message)" or "(docs: Resources >
Message > Create Message)", and run the command above.

| Rule | Discord's page | In |
|---|---|---|
`
)

// cited finds the pages in a comment: their address below developers/docs, or the way to them.
var cited = regexp.MustCompile(`\(?(?:docs: ([A-Z][^).,]*(?: > [^).,]*)+)|((?:resources|components|interactions|events|topics|reference)(?:/[a-z-]+)?(?:#[a-z-]+)?))\b\)?`)

// pagesOf are the pages that a comment cites, as links, and its text without them.
func pagesOf(comment string) (pages []string, rest string) {
	rest = cited.ReplaceAllStringFunc(comment, func(found string) string {
		m := cited.FindStringSubmatch(found)
		switch way, address := m[1], m[2]; {
		case way != "":
			pages = append(pages, way)
		case strings.ContainsAny(address, "/#"):
			pages = append(pages, fmt.Sprintf("[%s](https://discord.com/developers/docs/%s)", address, address))
		default: // the word alone
			return found
		}
		return ""
	})
	// What is left of "Messages: a, b and c."
	rest = regexp.MustCompile(`:( *(,|and))* *\.`).ReplaceAllString(rest, ".")
	rest = regexp.MustCompile(`:( *(,|and))* +\.? *([A-Z])`).ReplaceAllString(rest, ". $3")
	rest = regexp.MustCompile(` +([.,;:])`).ReplaceAllString(rest, "$1")
	return pages, strings.TrimSpace(strings.Join(strings.Fields(rest), " "))
}

// source is a parsed file of the package.
type source struct {
	set  *token.FileSet
	file *ast.File
	text []byte
}

// code is the source between two places, in one line.
func (s source) code(n ast.Node) string {
	return strings.Join(strings.Fields(string(s.text[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])), " ")
}

// rows are the rules of a file.
func (s source) rows(name string) (list []string) {
	values := map[*ast.CommentGroup]string{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST && d.Doc != nil {
			values[d.Doc] = s.values(d)
		}
		return true
	})
	for _, group := range s.file.Comments {
		pages, rest := pagesOf(strings.ReplaceAll(group.Text(), "\n", " "))
		if len(pages) == 0 {
			continue
		}
		if rest == "" {
			rest = s.beside(group)
		}
		if v := values[group]; v != "" {
			rest += " " + v
		}
		cell := strings.NewReplacer("|", `\|`).Replace
		list = append(list, fmt.Sprintf("| %s | %s | `%s` |\n", cell(strings.TrimSpace(rest)), cell(strings.Join(pages, ", ")), name))
	}
	return list
}

// values are constants with what their comments say.
func (s source) values(d *ast.GenDecl) string {
	var list []string
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			continue
		}
		text := fmt.Sprintf("`%s` = %s", v.Names[0].Name, s.code(v.Values[0]))
		if said := strings.TrimSpace(v.Comment.Text()); said != "" {
			text += " (" + said + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// beside is the code in the line of a comment: what it says, or what it is.
func (s source) beside(c *ast.CommentGroup) string {
	begin := s.set.Position(c.Pos())
	line := string(s.text[begin.Offset-begin.Column+1 : begin.Offset])
	if said := regexp.MustCompile(`"([A-Za-z][^"]* [^"]+)"`).FindStringSubmatch(line); said != nil {
		return said[1]
	}
	return "`" + strings.TrimSuffix(strings.TrimSpace(line), " {") + "`"
}

func TestThePageHasTheRulesOfTheCode(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	page := pageHead
	for _, name := range slices.Sorted(slices.Values(names)) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil {
			text, err = format.Source(text)
		}
		set := token.NewFileSet()
		var file *ast.File
		if err == nil {
			file, err = parser.ParseFile(set, name, text, parser.ParseComments)
		}
		if err != nil {
			t.Fatal(err)
		}
		page += strings.Join(source{set, file, text}.rows(name), "")
	}
	if *update {
		if err := os.WriteFile(thePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(thePage)
	if err != nil || string(got) != page {
		t.Errorf("%s differs from the comments in the code (%v): go test ./discord/discordtest -run Page -update", thePage, err)
	}
}

func TestTheRulesOfAPageAreFoundInAComment(t *testing.T) {
	for comment, want := range map[string]struct {
		pages []string
		rest  string
	}{
		"Nothing is cited here: resources, events and a reference.": {nil, "Nothing is cited here: resources, events and a reference."},
		"It is remembered (resources/message#create-message).":      {[]string{"resources/message#create-message"}, "It is remembered."},
		"An edit changes little (docs: Resources > Message > Edit Message).": {
			[]string{"Resources > Message > Edit Message"}, "An edit changes little.",
		},
		"Files: reference#uploading-files and reference#signed-attachment-cdn-urls.": {
			[]string{"reference#uploading-files", "reference#signed-attachment-cdn-urls"}, "Files.",
		},
	} {
		pages, rest := pagesOf(comment)
		for i, p := range pages {
			pages[i], _, _ = strings.Cut(strings.TrimPrefix(p, "["), "]")
		}
		if !slices.Equal(pages, want.pages) || rest != want.rest {
			t.Errorf("%s: %q, %q", comment, pages, rest)
		}
	}
}
