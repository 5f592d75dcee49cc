package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

func TestTextsCarryTheirMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		post post.Post
		want string
	}{
		"plain":          {post.Post{Text: "hello"}, "hello"},
		"trimmed":        {post.Post{Text: "\n hello \n"}, "hello"},
		"cleaned":        {post.Post{Text: "he\x1b[31mllo\u202e"}, "hello"},
		"background":     {post.Post{Text: "hello", Context: "bg"}, "hello"},
		"fork":           {post.Post{Text: "hello", Context: "fork"}, "hello"},
		"critical":       {post.Post{Text: "hello", Context: "bg", Critical: true}, "❗ hello"},
		"small":          {post.Post{Text: "one\n\ntwo", Small: true, Quiet: true}, "-# one\n\n-# two"},
		"small, rings":   {post.Post{Text: "one\n\ntwo", Small: true}, "one\n\ntwo"}, // D11
		"beside a card":  {post.Post{Text: "hello", Context: "bg", Critical: true, Embed: &post.Embed{Title: "x"}}, "hello"},
		"nothing":        {post.Post{Text: " \n"}, ""},
		"nothing marked": {post.Post{Context: "bg", Critical: true}, ""},
	} {
		if got := Post(tt.post).Content; got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestALongPostIsCutAndKeepsWhatBelongsToIt(t *testing.T) {
	p := post.Post{
		Text: strings.Repeat("a line of words\n", 200), Nonce: "n", Files: []string{"/data/report.txt"},
		Embed: &post.Embed{Title: "Card", Buttons: []post.Button{{Label: "Go", Action: "dismiss"}}},
	}
	m := Post(p)
	if !strings.HasSuffix(m.Content, "…") || units(m.Content) > MaxContent || m.Nonce != "n" {
		t.Errorf("%d units", units(m.Content))
	}
	if len(m.Embeds) != 1 || len(m.Components) != 1 || len(m.Files) != 1 || m.Files[0].Name != "report.txt" {
		t.Errorf("%+v", m)
	}
}

func TestAFileIsOpenedOnlyWhenItIsSent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later.txt")
	m := Post(post.Post{Files: []string{path}})
	if _, err := m.Files[0].Read(); err == nil {
		t.Error("a file that is not there was read")
	}
	if err := os.WriteFile(path, []byte("now"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := m.Files[0].Read(); string(data) != "now" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

func TestSmallPrintStaysSmallWhereItIsCut(t *testing.T) {
	text := strings.Repeat("v ", 400) + "\n\n" + strings.Repeat(strings.Repeat("v ", 400)+"\n", 5)
	m := Post(post.Post{Text: text, Small: true, Quiet: true})
	if units(m.Content) > MaxContent || !strings.HasSuffix(m.Content, "…") {
		t.Errorf("%d units", units(m.Content))
	}
	for line := range strings.SplitSeq(m.Content, "\n") {
		if line != "" && !strings.HasPrefix(line, "-# ") {
			t.Errorf("%.40q is not small", line)
		}
	}
	if m := Notice(" one\ntwo ", true); m.Content != "one\ntwo" || m.Flags != 0 { // D11: the lock screen shows the mark
		t.Errorf("%+v", m)
	}
	if m := Notice(" one\ntwo\x00 ", false); m.Content != "-# one\n-# two" {
		t.Errorf("%q", m.Content)
	}
}

func TestAnEmbedLooksLikeTheOriginals(t *testing.T) {
	e := post.Embed{
		Title: "📧 Landlord ⚠️ wrote", Description: `Three things\nto answer`, Color: "red", Footer: "from Ada",
		Fields: []post.Field{{Name: "🔥 When", Value: `today\n5 pm`, Inline: true}, {Name: "", Value: " "}},
		Buttons: []post.Button{
			{Label: "Done", Style: "success", Action: "act:task_done:MDM4"},
			{Label: "Ask", Style: "primary", Action: "act:agent:1a2b3c4d"},
			{Label: "Drop", Style: "danger", Action: "task_del:x"},
			{Label: "", Style: "loud", Action: "dismiss:"},
			{Label: "Later", Action: post.RemindLater + ":7"},
			{Label: "Again…", Action: post.PingLater + ":8"},
		},
		Selects: []post.Select{{Action: "snooze:k"}, {Action: "No Action", Choices: []post.Choice{{Value: "1h"}}}, {Action: "snooze:k", Choices: []post.Choice{{Label: "An hour", Value: "1h"}}}},
	}
	card, rows := embed(e, "bg", "")
	want := &discordgo.MessageEmbed{
		Title: "Landlord wrote", Description: "Three things\nto answer", Color: 0xe74c3c, Footer: &discordgo.MessageEmbedFooter{Text: "from Ada"},
		Fields: []*discordgo.MessageEmbedField{{Name: "🔥 When", Value: "today\n5 pm", Inline: true}, {Name: "\u200b", Value: "\u200b"}},
	}
	if diff := cmp.Diff(want, card); diff != "" {
		t.Error(diff)
	}
	wantRows := []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
		discordgo.Button{Label: "Done", CustomID: "act:task_done:MDM4", Style: discordgo.SuccessButton},
		discordgo.Button{Label: "Ask", CustomID: "act:agent:1a2b3c4d", Style: discordgo.PrimaryButton},
		discordgo.Button{Label: "Drop", CustomID: "act:task_del:x", Style: discordgo.DangerButton},
		discordgo.Button{Label: "–", CustomID: "act:dismiss:_", Style: discordgo.SecondaryButton},
		discordgo.Button{Label: "Later…", CustomID: "act:" + post.RemindLater + ":7", Style: discordgo.SecondaryButton},
	}}, discordgo.ActionsRow{Components: []discordgo.MessageComponent{
		discordgo.Button{Label: "Again…", CustomID: "act:" + post.PingLater + ":8", Style: discordgo.SecondaryButton},
	}}, discordgo.ActionsRow{Components: []discordgo.MessageComponent{
		discordgo.SelectMenu{MenuType: discordgo.StringSelectMenu, CustomID: "act:snooze:k", Options: []discordgo.SelectMenuOption{{Label: "An hour", Value: "1h"}}},
	}}}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"Done", "Ask", "Drop", "–", "Later…"}, {"Again…"}}, Labels(rest.Message{Components: rows})); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	stop := []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
		discordgo.Button{Label: "Stop", CustomID: "act:" + post.StopAnswer + ":a1", Style: discordgo.SecondaryButton},
	}}}
	if diff := cmp.Diff(stop, StopButton("a1")); diff != "" {
		t.Errorf("below a growing answer: %s", diff)
	}
	e.Selects = []post.Select{e.Selects[2], e.Selects[2], e.Selects[2], e.Selects[2]}
	if _, rows := embed(e, "bg", ""); len(rows) != 5 {
		t.Errorf("%d rows of buttons and menus", len(rows))
	}
}

// footerOf is what a card says at its foot.
func footerOf(c *discordgo.MessageEmbed) string {
	if c.Footer == nil {
		return ""
	}
	return c.Footer.Text
}

func TestColoursAreDiscordsOwn(t *testing.T) {
	for name, want := range map[post.Color]int{
		"blue": 0x3498DB, "green": 0x2ECC71, "red": 0xE74C3C, "yellow": 0xFEE75C, "purple": 0x9B59B6, "greyple": 0x99AAB5, "mauve": 0x3498DB, "": 0x3498DB,
	} {
		if card, _ := embed(post.Embed{Title: "x", Color: name}, "", ""); card.Color != want {
			t.Errorf("%q: %06x", name, card.Color)
		}
	}
}

func TestTitlesLoseTheirEmoji(t *testing.T) {
	for in, want := range map[string]string{
		"plain — title":       "plain — title",
		"✅ Done":              "Done",
		"Done ✅":              "Done",
		"a 👩‍👩‍👧  b":          "a b",
		"⏰⏳ 9:00":             "9:00",
		"☀️ 27° \u2600\ufe0f": "27°",
		"🎉":                   "",
		"⌚ kept":              "⌚ kept", // below the ranges
		"日本 ★":                "日本",
	} {
		if got := plainTitle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if card, _ := embed(post.Embed{Title: "🎉"}, "fork", ""); card.Title != "" || card.Description != nothing || footerOf(card) != "fork" {
		t.Errorf("%+v", card)
	}
}

func TestACriticalCardSaysSoInItsTitle(t *testing.T) {
	m := Post(post.Post{Critical: true, Context: "bg", Embed: &post.Embed{Title: "🚨 Fire"}})
	if got := m.Embeds[0]; got.Title != "❗ Fire" || footerOf(got) != "" || m.Content != "" {
		t.Errorf("%+v", m)
	}
}

// P8
func TestACardThatComesBackShowsWhenInTheReadersOwnClock(t *testing.T) {
	e := post.Embed{Title: "Dentist", Description: "Call.", Footer: "Dentist comes back at 21:45", Back: time.Unix(1_700_000_000, 0)}
	card, _ := embed(e, "bg", "")
	if card.Description != "Call.\n-# Comes back <t:1700000000:R>." || footerOf(card) != "" {
		t.Errorf("%q, footer %q", card.Description, footerOf(card))
	}
	e.Description = ""
	if card, _ = embed(e, "bg", ""); card.Description != "-# Comes back <t:1700000000:R>." {
		t.Errorf("%q", card.Description)
	}
}

func TestFootersAreJoined(t *testing.T) {
	for _, tt := range [][3]string{{"", "", ""}, {"", "bg", ""}, {"", "fork", "fork"}, {"fork", "fork", "fork"}, {"by hand", "", "by hand"}, {"by hand", "fork", "by hand · fork"}} {
		if card, _ := embed(post.Embed{Title: "x", Footer: tt[0]}, tt[1], ""); footerOf(card) != tt[2] {
			t.Errorf("%q: %q", tt, footerOf(card))
		}
	}
}

func TestFieldsThatHaveNoRoomAreCounted(t *testing.T) {
	fields := func(n, size int) []post.Field {
		var out []post.Field
		for range n {
			out = append(out, post.Field{Name: "n", Value: strings.Repeat("v", size-1)})
		}
		return out
	}
	for _, tt := range []struct{ fields, size, shown int }{
		{25, 10, 25},
		{26, 10, 24},
		{100, 10, 24},
		{6, 1000, 5}, // 1 + 6 × 1000 is one too many, and the last makes room to be counted
		{5, 1000, 5},
		{20, 599, 9}, // ten fit, but then nobody is told of the others
	} {
		card, _ := embed(post.Embed{Title: "x", Fields: fields(tt.fields, tt.size)}, "", "")
		last := card.Fields[len(card.Fields)-1]
		if tt.shown == tt.fields {
			if len(card.Fields) != tt.shown {
				t.Errorf("%+v: %d are shown", tt, len(card.Fields))
			}
			continue
		}
		if want := fmt.Sprintf("and %d more", tt.fields-tt.shown); len(card.Fields) != tt.shown+1 || last.Value != want {
			t.Errorf("%+v: %d fields, the last %q, want %q", tt, len(card.Fields), last.Value, want)
		}
	}
}

func TestPropertyAnEmbedKeepsAllLimits(t *testing.T) {
	long := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.SampledFrom([]string{"word ", family, "```go\n", "x", "\n", "é\xff"}))
		return strings.Repeat(piece.Draw(t, "piece"), rapid.SampledFrom([]int{1, 30, 300, 3000}).Draw(t, "times"))
	})
	testkit.Check(t, func(t *rapid.T) {
		e := post.Embed{Title: long.Draw(t, "title"), Description: long.Draw(t, "description"), Footer: long.Draw(t, "footer")}
		for range rapid.IntRange(0, 40).Draw(t, "fields") {
			e.Fields = append(e.Fields, post.Field{Name: long.Draw(t, "name"), Value: long.Draw(t, "value")})
		}
		for range rapid.IntRange(0, 40).Draw(t, "buttons") {
			e.Buttons = append(e.Buttons, post.Button{
				Label:  long.Draw(t, "label"),
				Action: rapid.OneOf(rapid.StringMatching(`(act:)?[a-z_]{1,20}:[a-z0-9]{0,120}`), long).Draw(t, "action"),
			})
		}
		p := post.Post{Embed: &e, Critical: rapid.Bool().Draw(t, "critical"), Context: rapid.SampledFrom([]string{"", "bg", "fork"}).Draw(t, "context")}
		m := Post(p)
		checkCard(t, m.Embeds[0])
		checkRows(t, m.Components)
	})
}

func checkCard(t *rapid.T, c *discordgo.MessageEmbed) {
	total := 0
	within := func(what, s string, least, most int) {
		n := units(s)
		total += n
		if n < least || n > most || !utf8.ValidString(s) {
			t.Fatalf("%s has %d units: %q", what, n, s)
		}
	}
	within("title", c.Title, 0, 256)
	within("description", c.Description, 0, 4096)
	within("footer", footerOf(c), 0, 2048)
	for _, f := range c.Fields {
		within("name", f.Name, 1, 256)
		within("value", f.Value, 1, 1024)
	}
	if len(c.Fields) > 25 || total > 6000 || c.Title+c.Description == "" && len(c.Fields) == 0 {
		t.Fatalf("%d fields, %d units", len(c.Fields), total)
	}
}

// buttonsOf are the buttons of a row.
func buttonsOf(row discordgo.MessageComponent) (out []discordgo.Button) {
	for _, b := range row.(discordgo.ActionsRow).Components {
		out = append(out, b.(discordgo.Button))
	}
	return out
}

func checkRows(t *rapid.T, rows []discordgo.MessageComponent) {
	known := map[string]bool{}
	for _, row := range rows {
		r := buttonsOf(row)
		if len(r) < 1 || len(r) > 5 {
			t.Fatalf("%d buttons in a row", len(r))
		}
		for _, b := range r {
			if n := units(b.Label); n < 1 || n > 80 {
				t.Fatalf("label %q", b.Label)
			}
			if _, _, ok := post.ParseCustomID(b.CustomID); !ok || units(b.CustomID) > 100 || known[b.CustomID] || b.Style < discordgo.PrimaryButton || b.Style > discordgo.DangerButton {
				t.Fatalf("button %+v", b)
			}
			known[b.CustomID] = true
		}
	}
	if len(rows) > 5 {
		t.Fatalf("%d rows", len(rows))
	}
}

func TestAQuestionWithoutAnIDHasNoButton(t *testing.T) {
	rows := Buttons([]post.Button{{Label: "Ask", Action: "agent:what is it?"}, {Label: "x", Action: "Not An Action"}, {Label: "Go", Action: "dismiss"}})
	if len(rows) != 1 || len(buttonsOf(rows[0])) != 1 || buttonsOf(rows[0])[0].CustomID != "act:dismiss:_" {
		t.Errorf("%+v", rows)
	}
}

// P13
func TestAnApprovalIsAQuestionWithItsAnswersAndItsDeadline(t *testing.T) {
	until := time.Unix(1_700_000_000, 0).Add(-policy.Patience)
	const end = "Without an answer it is not done; the question ends <t:1700000000:R>."
	const typed = " until the bot is restarted. You can also type yes, always or no, or react: ✅ once, 🔓 always, ❌ no. " + end
	for _, tt := range []struct {
		r       policy.Request
		content string
		buttons []string
	}{
		{
			policy.Request{Question: "Run this command?", Text: "rm x\necho ```done```", Tool: "Bash", Command: "Bash {}"},
			"**Run this command?**\n```\nrm x\necho ``⟦U+0060⟧done``⟦U+0060⟧\n```\n-# *This command*: this exact command runs without a question" + typed,
			[]string{"Once ab12 allowed true", "This command ab12 always allowed true", "Deny ab12 denied true"},
		},
		{
			policy.Request{Question: "Send you chart.png?", Text: "charts/chart.png", Tool: "mcp__discord__send_file"},
			"**Send you chart.png?**\n```\ncharts/chart.png\n```\n-# *This tool*: files of the data directory are sent without a question" + typed,
			[]string{"Once ab12 allowed true", "This tool ab12 always allowed true", "Deny ab12 denied true"},
		},
		{
			policy.Request{Question: "Change the file notes/[a](b).md?", Text: "-one\n+two"},
			"**Change the file notes/\\[a\\]\\(b\\).md?**\n```diff\n-one\n+two\n```\n-# You can also type yes or no, or react: ✅ yes, ❌ no. " + end,
			[]string{"Allow ab12 allowed true", "Deny ab12 denied true"},
		},
	} {
		tt.r.ID = "ab12"
		got := Approval(tt.r.Asked(until))
		if got.Content != tt.content {
			t.Errorf("%q\nwant %q", got.Content, tt.content)
		}
		var buttons []string
		for _, b := range buttonsOf(got.Components[0]) {
			id, v, ok := ParseApproval(b.CustomID)
			buttons = append(buttons, fmt.Sprint(b.Label, " ", id, " ", v, " ", ok))
		}
		if diff := cmp.Diff(tt.buttons, buttons); diff != "" {
			t.Error(diff)
		}
	}
	for _, other := range []string{"", "act:dismiss:_", "approval:", "approval:allow", "approval:allow:", "approval:perhaps:1"} {
		if id, v, ok := ParseApproval(other); ok {
			t.Errorf("%q: %s %s", other, id, v)
		}
	}
	long := policy.Request{Question: strings.Repeat("`", 3000), Text: strings.Repeat("x", 5000), Tool: strings.Repeat("y", 3000)}.Asked(until)
	if got := Approval(long).Content; Length(got) > MaxContent || !strings.Contains(got, "All of it is in the attached file") || !strings.Contains(got, " characters are not shown here⟧xxx") {
		t.Errorf("%d units: %.3000s", Length(got), got)
	}
	if files := Approval(long).Files; len(files) != 1 { // N2
		t.Errorf("attached %v", files)
	} else if data, err := files[0].Read(); err != nil || !strings.HasSuffix(string(data), "\n\n"+strings.Repeat("x", 5000)) {
		t.Errorf("attached %.80q, %v", data, err)
	}
}

func TestAnApprovalShowsItsVerdict(t *testing.T) {
	for verdict, want := range map[policy.Verdict]string{
		policy.Allow:     "Run this command? `rm x` — allowed",
		policy.Always:    "Run this command? `rm x` — always allowed",
		policy.Deny:      "Run this command? `rm x` — denied",
		policy.Expired:   "~~Run this command? `rm x`~~ — expired",
		policy.Cancelled: "~~Run this command? `rm x`~~ — cancelled",
	} {
		a := policy.Approval{Question: "Run this command?", Text: "rm x", Verdict: verdict}
		if got := Approval(a); got.Content != want || len(got.Components) != 0 {
			t.Errorf("%q: %q", verdict, got.Content)
		}
	}
	if got := Approval(policy.Approval{Question: "Keep going?", Verdict: policy.Deny}); got.Content != "Keep going? — denied" {
		t.Errorf("%q", got.Content)
	}
}

func TestATextCannotLeaveItsCode(t *testing.T) {
	settled := func(text string) string {
		content := Approval(policy.Approval{Question: "Run?", Text: text, Verdict: policy.Deny}).Content
		return strings.TrimSuffix(strings.TrimPrefix(content, "Run? "), " — denied")
	}
	for text, want := range map[string]string{
		"echo `id`":              "`` echo `id` ``",
		"``` **bold**":           "`` `⟦U+0060⟧` **bold** ``",
		"a\nb":                   "`a ⏎ b`",
		strings.Repeat("x", 5e3): "`" + strings.Repeat("x", 643) + "⟦4037 characters are not shown here⟧" + strings.Repeat("x", 320) + "`",
	} {
		if got := settled(text); got != want {
			t.Errorf("%.40q: %.80q", text, got)
		}
	}
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("x[`a *~|_]{0,40}").Draw(t, "text")
		got := settled(text)
		outer := len(got) - len(strings.TrimLeft(got, "`"))
		inner := strings.TrimSuffix(got[outer:], got[:outer])
		if strings.Contains(inner, strings.Repeat("`", outer)) {
			t.Fatalf("%q: %q", text, got)
		}
	})
}

func TestReactionsAnswerApprovals(t *testing.T) {
	var got []policy.Verdict
	if diff := cmp.Diff([]string{reactAllow, reactDeny}, Reactions(policy.Approval{})); diff != "" {
		t.Errorf("without a scope: %s", diff)
	}
	for _, e := range append(Reactions(policy.Approval{Tool: "Bash"}), "👍", "👍🏽", "👎", "🎉") {
		got = append(got, Verdict(e))
	}
	if diff := cmp.Diff([]policy.Verdict{policy.Allow, policy.Deny, policy.Always, policy.Allow, policy.Allow, policy.Deny, policy.Deny}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEphemeralReplyIsForOnePersonAndNeverEmpty(t *testing.T) {
	for in, want := range map[string]string{" already in a fork. ": "already in a fork.", "\x00": "–", strings.Repeat("x", 3000): strings.Repeat("x", 1999) + "…"} {
		if got := Ephemeral(in); got.Content != want || got.Flags != discordgo.MessageFlagsEphemeral {
			t.Errorf("%.30q: %.30q, flags %d", in, got.Content, got.Flags)
		}
	}
}

func TestAFormIsAWindowOfItsFieldsWithinDiscordsLimits(t *testing.T) {
	long := strings.Repeat("x", 5000)
	m, err := Form(post.Form{Title: long, Action: "setup:k", Fields: []post.Input{
		{Name: "name", Label: long, Hint: long, Value: " a\nb " + long},
		{Name: "note", Label: "Note", Long: true, Optional: true, Value: " a\nb " + long},
	}})
	if err != nil || m.CustomID != "act:setup:k" || Length(m.Title) != maxModalTitle || len(m.Components) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	for i, want := range []struct {
		style                     discordgo.TextInputStyle
		required                  bool
		label, hint, most, length int
		begin                     string
	}{
		{discordgo.TextInputShort, true, maxInputLabel, maxInputHint, maxShortInput, maxShortInput, "a b x"},
		{discordgo.TextInputParagraph, false, 4, 0, maxInput, maxInput, "a\nb x"},
	} {
		in := m.Components[i].(discordgo.ActionsRow).Components[0].(discordgo.TextInput)
		if in.Style != want.style || in.Required != want.required || Length(in.Label) != want.label || Length(in.Placeholder) != want.hint || in.MaxLength != want.most ||
			Length(in.Value) != want.length || !strings.HasPrefix(in.Value, want.begin) {
			t.Errorf("field %d: %.200s", i, fmt.Sprintf("%+v", in))
		}
	}
}

func TestAMenuHasEachUsableChoiceOnce(t *testing.T) {
	s := post.Select{Action: "snooze:k", Hint: "When?", Choices: []post.Choice{
		{Label: "In an hour", Value: "1h", About: "at 9:00"}, {Label: "again", Value: "1h"}, {Label: "nothing"}, {Label: "long", Value: strings.Repeat("v", 101)}, {Value: "2h", Chosen: true},
	}}
	row, ok := menu(s)
	want := discordgo.SelectMenu{MenuType: discordgo.StringSelectMenu, CustomID: "act:snooze:k", Placeholder: "When?", Options: []discordgo.SelectMenuOption{
		{Label: "In an hour", Value: "1h", Description: "at 9:00"}, {Label: "–", Value: "2h", Default: true},
	}}
	if diff := cmp.Diff(discordgo.ActionsRow{Components: []discordgo.MessageComponent{want}}, row); diff != "" || !ok {
		t.Error(diff)
	}
	if _, ok := menu(post.Select{Action: "snooze:k", Choices: s.Choices[2:3]}); ok {
		t.Error("a menu without a choice is shown")
	}
}

func TestSuggestionsAreUpTo25EachOnce(t *testing.T) {
	list := []string{" one\n", "one", "", strings.Repeat("x", 101)}
	for i := range 30 {
		list = append(list, fmt.Sprint(i))
	}
	got := Suggestions(list)
	if len(got) != 25 || got[0].Name != "one" || got[0].Value != "one" || got[1].Name != strings.Repeat("x", 99)+"…" || got[24].Name != "22" {
		t.Errorf("%d, the first %+v, the last %+v", len(got), got[0], got[len(got)-1])
	}
}

func TestWhatAnswersOneMessageOfTheUserRepliesToItAndDoesNotRing(t *testing.T) {
	for _, c := range []struct {
		got  rest.Message
		want string
	}{
		{Transcript(" buy milk\nand bread ", "7"), "> buy milk\n> and bread"},
		{Remark("too long\nto hear", "7"), "-# too long\n-# to hear"},
		{Transcript(strings.Repeat("x", 3000), "7"), "> " + strings.Repeat("x", 1997) + "…"},
	} {
		want := rest.Message{Content: c.want, ReplyTo: "7", Nonce: "voice-7", Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications}
		if diff := cmp.Diff(want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestABlockIsADiffOnlyIfEachLineIsOneOfADiff(t *testing.T) {
	for text, want := range map[string]string{
		"-one\n+two": "diff", "@@ 1 @@\n a\n+b": "diff", " a\n b": "", "-one\ntwo": "", "-one\n\n+two": "", "@@ 1 @@": "", "+a": "diff", " a\n-b": "diff", "": "",
	} {
		if got := tongue(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestButtonsAreBelowATextOrAFileAndBelowNothingElse(t *testing.T) {
	buttons := []post.Button{{Label: "Go", Action: "dismiss"}}
	for name, c := range map[string]struct {
		p    post.Post
		rows int
	}{
		"a text": {post.Post{Text: "x", Buttons: buttons}, 1}, "a file": {post.Post{Files: []string{"a"}, Buttons: buttons}, 1}, "nothing": {post.Post{Buttons: buttons}, 0},
	} {
		if m := Post(c.p); len(m.Components) != c.rows {
			t.Errorf("%s: %d rows", name, len(m.Components))
		}
	}
}
