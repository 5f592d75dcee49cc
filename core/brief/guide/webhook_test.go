package guide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

func webhookExample(t testing.TB) webhook.Spec {
	t.Helper()
	example := examples(t, "webhook-spec.md")[0]
	spec, problems := webhook.Parse("webhooks/ci.md", []byte(example))
	if len(problems) > 0 {
		t.Fatalf("%s\n%+v", example, problems)
	}
	return spec
}

// The call and the prompt in the document match the actual behaviour.
func TestTheCallThatTheWebhookDocumentShowsGivesThePromptThatItShows(t *testing.T) {
	doc, spec := text(t, "webhook-spec.md"), webhookExample(t)
	_, part, _ := strings.Cut(doc, "-d '")
	body, _, _ := strings.Cut(part, "'")
	payload, err := spec.Check([]byte(body))
	if err != nil {
		t.Fatalf("the call is refused: %v", err)
	}
	if !slices.Equal(payload.Screened, []string{"repo"}) {
		t.Errorf("screened are %q, the document says that enum need not be", payload.Screened)
	}
	got := prompt.WebhookPrompt(prompt.Background{Now: time.Unix(0, 0).UTC(), Task: spec.Task}, payload.Data)
	_, shown, _ := strings.Cut(doc, "[webhook:ci-result] …\n")
	shown, _, _ = strings.Cut(shown, "\n```")
	if !strings.Contains(got, "[webhook:ci-result] ") || !strings.HasSuffix(got, shown) {
		t.Errorf("the prompt is\n%s\nthe document shows\n%s", got, shown)
	}
}

func TestTheLimitsOfTheWebhookDocumentAreReal(t *testing.T) {
	spec := webhookExample(t)
	long := func(n int) string { return `{"repo": "` + strings.Repeat("x", n) + `", "status": "success"}` }
	for body, ok := range map[string]bool{
		long(200): true, long(201): false, `{"repo": "a"}`: false, `{"repo": "a", "status": "success", "other": 1}`: false,
	} {
		if _, err := spec.Check([]byte(body)); (err == nil) != ok {
			t.Errorf("%.60s: %v", body, err)
		}
	}
	loose, problems := webhook.Parse("webhooks/x.md", []byte("---\nid: a\nfields:\n  properties:\n    note:\n      type: string\n---\n{note}"))
	if routines.HasErrors(problems) {
		t.Fatal(problems)
	}
	for n, ok := range map[int]bool{500: true, 501: false} {
		if _, err := loose.Check([]byte(`{"note": "` + strings.Repeat("x", n) + `"}`)); (err == nil) != ok {
			t.Errorf("%d characters: %v", n, err)
		}
	}
	if webhook.MaxBody != 10<<10 {
		t.Errorf("the document says 10 KiB, the limit is %d", webhook.MaxBody)
	}
	crowd := func(n int) string {
		return "---\nid: a\nfields:\n  properties:\n    a:\n      type: integer\n---\n" + strings.Repeat("{a} ", n)
	}
	for n, ok := range map[int]bool{50: true, 51: false} {
		if _, problems := webhook.Parse("webhooks/x.md", []byte(crowd(n))); routines.HasErrors(problems) == ok {
			t.Errorf("%d placeholders: %+v", n, problems)
		}
	}
}
