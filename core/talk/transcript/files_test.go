package transcript

import (
	"errors"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

func TestAFileIsShownByItsCleanNameBelowTheText(t *testing.T) {
	for _, tt := range []struct {
		post post.Post
		want string
	}{
		{post.Post{Text: "Here it is", Files: []string{"/home/sam/notes/week\x1b[31m.pdf"}}, "Here it is\nFile: week.pdf"},
		{post.Post{Files: []string{"/a/one.txt", "/b/two\u202e\n.txt"}}, "File: one.txt\nFile: two .txt"},
	} {
		b := New(Options{})
		if _, err := b.Post(t.Context(), tt.post); err != nil {
			t.Fatal(err)
		}
		if got := b.Entries()[0].Text; got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestAClosedBookIsNoChannel(t *testing.T) {
	b := New(Options{})
	testkit.Must(t, b.Close())
	if _, err := b.Post(t.Context(), post.Post{Text: "late"}); !errors.Is(err, post.ErrNoChannel) {
		t.Errorf("%v", err)
	}
}
