package sessionfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestAProjectsFolderIsNamedAsTheCLINamesIt(t *testing.T) {
	long := "/tmp/expE/" + strings.Repeat(strings.Repeat("abcdefghij", 5)+"/", 4) + "x"
	for dir, want := range map[string]string{ // as named by claude 2.1.197
		"/tmp/expE/a_b.c-é😀Ü x":  "-tmp-expE-a-b-c------x",
		"/home/olli/Data":        "-home-olli-Data",
		strings.Repeat("b", 200): strings.Repeat("b", 200),
		long:                     strings.NewReplacer("/", "-").Replace(long)[:200] + "-fzh49k",
	} {
		if diff := cmp.Diff(want, Slug(dir)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAFolderIsNamedAfterTheRealPath(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	target, link := filepath.Join(root, "real"), filepath.Join(root, "link")
	testkit.Must(t, os.Mkdir(target, 0o700))
	testkit.Must(t, os.Symlink(target, link))
	if got := Folder(link); got != Slug(target) {
		t.Errorf("the folder is %s, not %s", got, Slug(target))
	}
	if got, want := Path("/c", link, "an-id"), "/c/projects/"+Slug(target)+"/an-id.jsonl"; got != want {
		t.Errorf("the path is %s, not %s", got, want)
	}
}

func TestTheConfigurationIsFoundAsTheCLIFindsIt(t *testing.T) {
	for want, env := range map[string][]string{
		"/c":         {"HOME=/h", "CLAUDE_CONFIG_DIR=/c"},
		"/h/.claude": {"HOME=/h"},
		"/last":      {"CLAUDE_CONFIG_DIR=/first", "CLAUDE_CONFIG_DIR=/last"},
	} {
		if got := ConfigDir(env); got != want {
			t.Errorf("%v gives %s, not %s", env, got, want)
		}
	}
}

// However messages are packed, each is returned unchanged.
func TestMessagesThatWaitedTogetherComeApart(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z@/ \n]{1,20}`)
		want := rapid.SliceOfN(text, 1, 5).Draw(t, "messages")
		var blocks []map[string]string
		for _, m := range want {
			blocks = append(blocks, map[string]string{"type": "image"}, map[string]string{"type": "text", "text": m},
				map[string]string{"type": "text", "text": LastBlock})
		}
		content, err := json.Marshal(blocks)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Texts(content)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTheFolderOfSessionsIsMadeForItsUserAlone(t *testing.T) {
	home := t.TempDir()
	elsewhere := filepath.Join(home, "on another disk")
	testkit.Must(t, os.Mkdir(elsewhere, 0o700))
	testkit.Must(t, os.Symlink(elsewhere, filepath.Join(home, ".claude")))
	for dir, env := range map[string][]string{
		elsewhere:                        {"HOME=" + home},
		filepath.Join(home, "a/new/one"): {"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "a/new/one")},
	} {
		testkit.Must(t, Prepare(env))
		for _, path := range []string{dir, filepath.Join(dir, Projects)} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
	}
}

func TestAFolderOrAnAccountThatCannotBeUsedHasACure(t *testing.T) {
	home := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(home, "file"), nil, 0o600))
	testkit.Must(t, os.Symlink(".claude.json", filepath.Join(home, ".claude.json"))) // a loop, which nothing can open
	loop := filepath.Join(home, ".claude.json")
	for want, env := range map[string][]string{
		fmt.Sprintf(msgRelative, "here"):                                         {"HOME=" + home, "CLAUDE_CONFIG_DIR=here"},
		fmt.Sprintf(msgUnwritable, filepath.Join(home, "file"), syscall.ENOTDIR): {"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "file")},
		fmt.Sprintf(msgAccount, loop, syscall.ELOOP):                             {"HOME=" + home},
		"": {"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "other")}, // which has its own account
	} {
		if err := Prepare(env); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v: %v, want %s", env, err, want)
		}
	}
}

func TestAMessageOfOneTextIsReadAsOfBlocks(t *testing.T) {
	for content, want := range map[string][]string{
		`"hello\n(end of message)"`: {"hello"}, `"hello"`: {"hello"}, `[{"type":"text","text":"from "},{"type":"text","text":"elsewhere"}]`: {"from elsewhere"},
		`[]`: nil, `5`: nil,
	} {
		if diff := cmp.Diff(want, Texts(json.RawMessage(content))); diff != "" {
			t.Errorf("%s: %s", content, diff)
		}
	}
}
