package webhook

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// Senders' own test vectors: GitHub's and Slack's documentation, Stripe's library for Node (generateTestHeaderString) and
// a library for Rust, RFC 4231.
var vectors = map[string]struct {
	sender, secret, body string
	at                   int64
	header               http.Header
}{
	"GitHub": {github, "It's a Secret to Everybody", "Hello, World!", 0, http.Header{
		"X-Hub-Signature-256": {"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
	}},
	"RFC 4231": {hmac256, "Jefe", "what do ya want for nothing?", 0, http.Header{
		"X-Signature": {"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
	}},
	"Slack": {
		slack, "8f742231b10e8888abcd99yyyzzz85a5", "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
			"channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
			"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
		1531420618,
		http.Header{
			slackTime: {"1531420618"}, "X-Slack-Signature": {"v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"},
		},
	},
	"Stripe": {stripe, "whsec_test_secret", "{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}", 1533204620, http.Header{
		"Stripe-Signature": {"t=1533204620,v1=b211a6d90b230f214d40f639a5547af1198a989ecb45d03e3db0ab7bdcfe15d6"},
	}},
	"Stripe with a second secret": {stripe, "whsec_test_secret", "{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}", 1533204620, http.Header{
		"Stripe-Signature": {
			"t=1533204620,v1=" + strings.Repeat("0", 64) + ",v1=b211a6d90b230f214d40f639a5547af1198a989ecb45d03e3db0ab7bdcfe15d6,v1=" + strings.Repeat("2", 64) + ",v0=" + strings.Repeat("1", 64),
		},
	}},
	"GitLab": {gitlab, "a token of GitLab", "{}", 0, http.Header{"X-Gitlab-Token": {"a token of GitLab"}}},
}

// specOf returns a webhook of that sender.
func specOf(sender string) Spec {
	s := Spec{Verify: sender, SecretEnv: "A_SECRET"}
	if s.ID = "hook"; sender == hmac256 {
		s.SignatureHeader = "X-Signature"
	}
	return s
}

func TestThePublishedVectorsOfSendersAreVerified(t *testing.T) {
	for name, v := range vectors {
		s, now := specOf(v.sender), time.Unix(v.at, 0)
		for off, fresh := range map[time.Duration]bool{
			0: true, tolerance: true, -tolerance: true, tolerance + time.Second: !s.timed(), -tolerance - time.Second: !s.timed(),
		} {
			if c, wrong := s.claimed(v.header, now.Add(off)); (wrong == "") != fresh {
				t.Errorf("%s, %v later: %+v, %q", name, off, c, wrong)
			}
		}
		c, _ := s.claimed(v.header, now)
		if !c.proven(config.Secret(v.secret), []byte(v.body)) {
			t.Errorf("%s: not proven", name)
		}
		if c.proven(config.Secret(v.secret+"x"), []byte(v.body)) || v.sender != gitlab && c.proven(config.Secret(v.secret), []byte(v.body+" ")) {
			t.Errorf("%s: proven with another secret or payload", name)
		}
		if made, _ := s.claimed(s.Sign(config.Secret(v.secret), []byte(v.body), now), now); !made.proven(config.Secret(v.secret), []byte(v.body)) {
			t.Errorf("%s: our own signature is refused", name)
		}
	}
}

func TestWhatASenderGetsWrongIsNamed(t *testing.T) {
	const (
		hexOnly = "the header X-Hub-Signature-256 must be sha256= and 64 hexadecimal digits"
		noTime  = "the signed time is not a number of seconds"
		tooLate = "the signed time differs by more than 5 minutes from the clock of the bot"
	)
	now := time.Unix(1533204620, 0)
	good := strings.Repeat("ab", 32)
	raw, _ := hex.DecodeString(good)
	inBase64 := base64.StdEncoding.EncodeToString(raw)
	for _, c := range []struct {
		sender string
		header http.Header
		wrong  string
	}{
		{github, nil, "the header X-Hub-Signature-256 is missing"},
		{github, http.Header{"X-Hub-Signature-256": {" "}}, "the header X-Hub-Signature-256 is missing"},
		{github, http.Header{"X-Hub-Signature-256": {"sha256=" + good, "sha256=" + good}}, "the header X-Hub-Signature-256 is there more than once"},
		{github, http.Header{"X-Hub-Signature-256": {good}}, hexOnly},
		{github, http.Header{"X-Hub-Signature-256": {"sha1=" + good}}, hexOnly},
		{github, http.Header{"X-Hub-Signature-256": {"sha256=" + good[1:]}}, hexOnly},
		{github, http.Header{"X-Hub-Signature-256": {"sha256=" + good + "ab"}}, hexOnly},
		{github, http.Header{"X-Hub-Signature-256": {"sha256=" + inBase64}}, hexOnly},
		{github, http.Header{"X-Hub-Signature-256": {"sha256=" + strings.ToUpper(good)}}, ""},
		{hmac256, http.Header{"X-Signature": {strings.ToUpper(good)}}, ""},
		{hmac256, http.Header{"X-Signature": {"sha256=" + good}}, ""},
		{hmac256, http.Header{"X-Signature": {inBase64}}, ""},
		{hmac256, http.Header{"X-Signature": {inBase64 + "AAAA"}}, "the header X-Signature must be 64 hexadecimal digits, also after sha256=, or 32 bytes in base64"},
		{hmac256, http.Header{"X-Signature": {"zz"}}, "the header X-Signature must be 64 hexadecimal digits, also after sha256=, or 32 bytes in base64"},
		{gitlab, http.Header{}, "the header X-Gitlab-Token is missing"},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}}, "the header X-Slack-Request-Timestamp is missing"},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}, slackTime: {"soon"}}, noTime},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}, slackTime: {"99999999999999999999"}}, noTime},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}, slackTime: {"0"}}, tooLate},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}, slackTime: {"9223372036854775807"}}, tooLate},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + good}, slackTime: {"-9223372036854775808"}}, tooLate},
		{slack, http.Header{"X-Slack-Signature": {"v1=" + good}, slackTime: {"1533204620"}}, "the header X-Slack-Signature must be v0= and 64 hexadecimal digits"},
		{slack, http.Header{"X-Slack-Signature": {"v0=" + inBase64}, slackTime: {"1533204620"}}, "the header X-Slack-Signature must be v0= and 64 hexadecimal digits"},
		{stripe, http.Header{"Stripe-Signature": {"v1=" + good}}, noTime},
		{stripe, http.Header{"Stripe-Signature": {"t=1533204620,v1=" + inBase64}}, "the header Stripe-Signature must be t=TIME,v1=SIGNATURE"},
		{stripe, http.Header{"Stripe-Signature": {"t=1533204620"}}, "the header Stripe-Signature must be t=TIME,v1=SIGNATURE"},
		{stripe, http.Header{"Stripe-Signature": {"t=1533204620,v0=" + good}}, "the header Stripe-Signature must be t=TIME,v1=SIGNATURE"},
		{stripe, http.Header{"Stripe-Signature": {"t=1533204000,t=1533204620,v1=" + good}}, tooLate},
		{stripe, http.Header{"Stripe-Signature": {",,=,t=1533204620, v1=" + good + ",x"}}, ""},
	} {
		if _, wrong := specOf(c.sender).claimed(c.header, now); wrong != c.wrong {
			t.Errorf("%s %v: %q, not %q", c.sender, c.header, wrong, c.wrong)
		}
	}
}

// senderSpecs are webhooks with verify and secret-env, more lines, fields, and a body.
var senderSpecs = map[string][5]string{
	"push": {github, "GITHUB_WEBHOOK_SECRET", "", `{type: object, required: [ref, repository], properties: {ref: {type: string},
    repository: {type: object, required: [full_name], properties: {full_name: {type: string, maxLength: 100}}},
    commits: {type: array, items: {type: object, properties: {message: {type: string}, added: {}}}}}}`, "Something was pushed to {ref}."},
	"pay":   {stripe, "STRIPE_WEBHOOK_SECRET", "", "{type: object, properties: {type: {enum: [invoice.paid]}}}", "A payment: {type}."},
	"chat":  {slack, "SLACK_SIGNING_SECRET", "", "{type: object, properties: {type: {type: string}}}", "Slack says {type}."},
	"third": {hmac256, "THIRD_SECRET", "signature-header: X-Third\ndelivery-header: X-Third-Id\n", "{properties: {n: {type: integer}}}", "It is {n}."},
	"unset": {gitlab, "GITLAB_WEBHOOK_TOKEN", "", "{type: object}", "GitLab calls."},
}

const ofSender = "a-long-secret-of-a-sender"

// newSenders is a server with a webhook of each sender; the variable of the last one is not set.
func newSenders(t testing.TB) *rig {
	t.Helper()
	d := storetest.Dir(t)
	put(t, d, "fixed.md", fixedSpec)
	for id, s := range senderSpecs {
		put(t, d, id+".md", fmt.Sprintf("---\nid: %s\nverify: %s\nsecret-env: %s\n%sfields: %s\n---\n%s\n", id, s[0], s[1], s[2], s[3], s[4]))
	}
	return rigOn(t, d, withSecrets)
}

func withSecrets(o *Options) {
	o.Variable = func(name string) config.Secret {
		if name == "GITLAB_WEBHOOK_TOKEN" {
			return ""
		}
		return ofSender
	}
}

// signed returns a request as its sender signs it, at the time of the test.
func (r *rig) signed(t testing.TB, id, body string) *http.Request {
	t.Helper()
	s, ok := r.index.Find(id)
	if !ok {
		t.Fatalf("no webhook %s: %+v", id, r.index.Problems())
	}
	request := httptest.NewRequest(http.MethodPost, "/hook/"+id, strings.NewReader(body))
	request.Header = s.Sign(ofSender, []byte(body), time.Now())
	return request
}

func (r *rig) serve(request *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w
}

// with changes a request.
func with(r *http.Request, header ...string) *http.Request {
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// Z5: a payload of GitHub's size, of which the run sees only what the file declares.
func TestALargePayloadOfAVerifiedSenderIsReadAndCutToWhatTheFileDeclares(t *testing.T) {
	r := newSenders(t)
	body := func(n int) string {
		head := `{"ref":"refs/heads/main","repository":{"id":1,"full_name":"ann/garden","owner":{"login":"ann"}},` +
			`"commits":[{"id":"a1","message":"Plant <roses>","added":["a.md"]}],"sender":{"login":"ann"},"padding":"`
		return head + strings.Repeat("x", n-len(head)-2) + `"}`
	}
	if w := r.serve(r.signed(t, "push", body(MaxSigned))); w.Code != http.StatusAccepted {
		t.Fatalf("exactly 1 MiB: %d %s", w.Code, w.Body)
	}
	text := string((<-r.queue).record.Payload)
	if want := `{"ref":"refs/heads/main","repository":{"full_name":"ann/garden"},"commits":[{"message":"Plant <roses>","added":["a.md"]}]}`; text != want {
		t.Errorf("kept\n%s, not\n%s", text, want)
	}
	chunked := r.signed(t, "push", body(MaxSigned))
	chunked.Body, chunked.ContentLength = io.NopCloser(io.MultiReader(chunked.Body)), -1
	if w := r.serve(chunked); w.Code != http.StatusAccepted {
		t.Errorf("chunked: %d %s", w.Code, w.Body)
	}
	for _, length := range []int64{MaxSigned + 1, -1} {
		request := r.signed(t, "push", body(MaxSigned+1))
		request.ContentLength = length
		if w := r.serve(request); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("one byte more, with the length %d: %d %s", length, w.Code, w.Body)
		}
	}
	long := `{"ref":"` + strings.Repeat("x", MaxBody) + `","repository":{"full_name":"ann/garden"}}`
	if w := r.serve(r.signed(t, "push", long)); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "declare less") {
		t.Errorf("a declared field above the limit: %d %s", w.Code, w.Body)
	}
	if w := r.post("fixed", `{"status":"up","n":1`+strings.Repeat(" ", MaxBody)+`}`); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a caller with the bot's secret: %d", w.Code)
	}
	for range signedAtOnce {
		r.large <- struct{}{}
	}
	if w := r.serve(r.signed(t, "push", body(MaxSigned))); w.Code != http.StatusTooManyRequests {
		t.Errorf("while others are read: %d", w.Code)
	}
	if w := r.serve(r.signed(t, "push", body(MaxBody))); w.Code != http.StatusAccepted {
		t.Errorf("a small one while large ones are read: %d", w.Code)
	}
}

func TestSendersAreRefusedWithTheReason(t *testing.T) {
	push := `{"ref":"main","repository":{"full_name":"ann/garden"}}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(push))
	testkit.Must(t, z.Close())
	r := newSenders(t)
	const accepted, noJSON = `{"status":"accepted"}`, `{"error":"invalid json"}`
	const unsigned = `{"error":"unauthorized","details":["the header X-Hub-Signature-256 is missing"]}`
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		says    string
	}{
		"right":                 {r.signed(t, "push", push), 202, accepted},
		"the bot's own secret":  {httptest.NewRequest(http.MethodPost, "/hook/push", strings.NewReader(push)), 401, unsigned},
		"another payload":       {with(r.signed(t, "push", push), "X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64)), 401, `{"error":"unauthorized","details":["the header X-Hub-Signature-256 does not fit the secret and the payload"]}`},
		"no variable":           {r.signed(t, "unset", "{}"), 503, `{"error":"the secret of this webhook is not set"}`},
		"compressed":            {with(r.signed(t, "push", packed.String()), "Content-Encoding", "gzip"), 415, `{"error":"compressed payloads are not read"}`},
		"not compressed":        {with(r.signed(t, "push", push), "Content-Encoding", "identity"), 202, accepted},
		"no JSON":               {r.signed(t, "push", "{"), 400, noJSON},
		"a form":                {r.signed(t, "push", url.Values{"payload": {push}}.Encode()), 202, accepted},
		"a form of other names": {with(r.signed(t, "push", "a=b"), "Content-Type", "application/x-www-form-urlencoded"), 400, `{"error":"invalid json","details":["the payload is a form without the field payload; have it sent as application/json"]}`},
		"spoilt JSON":           {with(r.signed(t, "push", "{a=b"), "Content-Type", "application/x-www-form-urlencoded"), 400, noJSON},
		"a spoilt form":         {r.signed(t, "push", "payload=%zz"), 400, noJSON},
		"a ping":                {with(r.signed(t, "push", `{"zen":"x"}`), githubEvent, "ping"), 200, `{"status":"pong"}`},
		"an unsigned ping":      {with(httptest.NewRequest(http.MethodPost, "/hook/push", strings.NewReader("{}")), githubEvent, "ping"), 401, unsigned},
		"a challenge":           {r.signed(t, "chat", `{"type":"url_verification","challenge":"3eZbrw1a"}`), 200, `{"status":"pong","challenge":"3eZbrw1a"}`},
		"Slack's event":         {r.signed(t, "chat", `{"type":"event_callback","event_id":"Ev1"}`), 202, accepted},
		"does not fit":          {r.signed(t, "pay", `{"type":"invoice.lost"}`), 400, `{"error":"validation failed","details":["type must be one of invoice.paid"]}`},
	} {
		if w := r.serve(c.request); w.Code != c.status || w.Body.String() != c.says+"\n" || (w.Header().Get("Retry-After") == "10") != (c.status == 503) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if strings.Contains(r.logged(), ofSender) {
		t.Error("the secret is in the log")
	}
	answered := 0
	for _, d := range r.Deliveries() {
		if d.Outcome == Answered && d.Status == http.StatusOK {
			answered++
		}
	}
	if answered != 2 {
		t.Errorf("%d deliveries are listed as answered", answered)
	}
}

// Strangers can neither use up the rate of a webhook nor lock out its sender.
func TestWrongSignaturesDoNotKeepOutTheRightOneUnlessItCanBeGuessed(t *testing.T) {
	for key, right := range map[config.Secret]int{ofSender: http.StatusAccepted, "short": http.StatusTooManyRequests} {
		r := newSenders(t)
		r.o.Variable = func(string) config.Secret { return key }
		for i := range 2 * perMinute {
			w := r.serve(with(r.signed(t, "third", `{"n":1}`), "X-Third", strings.Repeat("0", 64)))
			if want := map[bool]int{true: 401, false: 429}[i < guesses]; w.Code != want || want == 429 && w.Body.String() != `{"error":"too many requests"}`+"\n" {
				t.Fatalf("guess %d: %d %s", i, w.Code, w.Body)
			}
		}
		s, _ := r.index.Find("third")
		proof := s.Sign(key, []byte(`{"n":1}`), time.Now()).Get("X-Third")
		if w := r.serve(with(r.signed(t, "third", `{"n":1}`), "X-Third", proof)); w.Code != right {
			t.Errorf("the right one of %s: %d", key.Reveal(), w.Code)
		}
	}
}

// Z5: each sender's own id is honoured for a week, over restarts; a copied request is not run again.
func TestADeliveryOfAVerifiedSenderRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := repeating(t, newSenders(t), withSecrets)
		defer func() { r.stop() }()
		copied := func(request *http.Request, body string, header ...string) *http.Request {
			again := httptest.NewRequest(http.MethodPost, request.URL.Path, strings.NewReader(body))
			again.Header = request.Header.Clone()
			return with(again, header...)
		}
		push := `{"ref":"main","repository":{"full_name":"ann/garden"}}`
		pay := `{"id":"evt_1","type":"invoice.paid"}`
		chat := `{"type":"event_callback","event_id":"Ev1"}`
		nameless := `{"type":"event_callback"}`
		for range 2 {
			r.sends(with(r.signed(t, "push", push), "X-GitHub-Delivery", "d1"), 202, r.runs > 0)
		}
		r.sends(with(r.signed(t, "push", push), "X-GitHub-Delivery", strings.Repeat("d", 10<<10)), 202, false)
		r.sends(with(r.signed(t, "push", push), "X-GitHub-Delivery", strings.Repeat("d", 10<<10)), 202, true)
		r.sends(with(r.signed(t, "third", `{"n":1}`), "X-Third-Id", "1", "Idempotency-Key", "a"), 202, false)
		r.sends(with(r.signed(t, "third", `{"n":1}`), "X-Third-Id", "1", "Idempotency-Key", "b"), 202, true)
		r.sends(with(r.signed(t, "third", `{"n":1}`), "Idempotency-Key", "a"), 202, false)
		first := r.signed(t, "pay", pay)
		theft, silent := first.Clone(t.Context()), r.signed(t, "chat", nameless)
		stolen := silent.Clone(t.Context())
		r.sends(first, 202, false)
		r.sends(copied(theft, pay, "Idempotency-Key", "new"), 202, true)
		r.sends(silent, 202, false)
		r.sends(copied(stolen, nameless, "X-Slack-Retry-Num", "1"), 202, true)
		r.sends(r.signed(t, "chat", chat), 202, false)
		r.restart()
		r.sends(copied(theft, pay), 202, true)
		r.sends(copied(stolen, nameless), 202, true)
		r.sends(r.signed(t, "chat", chat), 202, true) // signed again, as Slack does
		waitFor(tolerance)
		r.sends(copied(theft, pay), 401, false)
		r.sends(r.signed(t, "chat", nameless), 202, false) // another request with the same text
		r.sends(r.signed(t, "pay", pay), 202, true)
		waitFor(onceWithin)
		r.sends(r.signed(t, "pay", pay), 202, false)
		if text := onDisk(t, r.dir); strings.Contains(text, "evt_1") || strings.Contains(text, ofSender) {
			t.Error("the sender's text is in the log")
		}
	})
}

func TestTheSecretOfASenderIsNeverInTheFile(t *testing.T) {
	file := func(lines string) string {
		return "---\nid: a\nfields: {type: object, properties: {n: {}}}\n" + lines + "\n---\nx\n"
	}
	for lines, want := range map[string]string{
		"verify: github\nsecret-env: A_SECRET":                                              "",
		"verify: gitlab\nsecret-env: A_TOKEN\nsignature-header: X-My-Token":                 "",
		"delivery-header: X-Id":                                                             "",
		"verify: github":                                                                    "put it into the bot's environment, as GITHUB_WEBHOOK_SECRET=value",
		"verify: github\nsecret-env:":                                                       "put it into the bot's environment, as GITHUB_WEBHOOK_SECRET=value",
		"verify: hmac-sha256\nsecret-env: A_SECRET":                                         "add signature-header: X-Signature",
		"verify: bitbucket\nsecret-env: A_SECRET":                                           "github, gitlab, stripe, slack or hmac-sha256",
		"verify: github\nsecret-env: whsec_5f3hunter2hunter2":                               "must be the name of a variable",
		"verify: github\nsecret-env: HUNTER2":                                               "must be the name of a variable",
		"verify: github\nsecret-env: A_SECRET\nsignature-header: \"a: b\"":                  "signature-header must be the name of a header",
		"verify: hmac-sha256\nsecret-env: A_SECRET\nsignature-header: \"a: b\"":             "signature-header must be the name of a header",
		"verify: github\nsecret-env: A_SECRET\ndelivery-header: " + strings.Repeat("x", 65): "delivery-header must be the name of a header",
		"verify: stripe\nsecret-env: A_SECRET\ndelivery-header: X-Id":                       fmt.Sprintf(msgSignedID, stripe),
		"secret-env: A_SECRET":                                                              fmt.Sprintf(msgNeedsVerify, "secret-env"),
		"verify: github\nsecret-env: A_SECRET\nsecret: hunter2hunter2":                      "does not belong into this file",
		"verify: gitlab\nsecret-env: A_SECRET\nGitLab-Token: hunter2hunter2":                "does not belong into this file",
		"api-key: hunter2hunter2":                                                           "does not belong into this file",
	} {
		_, problems := Parse("webhooks/a.md", []byte(file(lines)))
		if want == "" && len(problems) == 0 {
			continue
		}
		if len(problems) != 1 || want == "" || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s:\n%+v", lines, problems)
			continue
		}
		if strings.Contains(strings.ToLower(problems[0].Message), "hunter2") {
			t.Errorf("the message shows the secret: %s", problems[0].Message)
		}
		unused, last := strings.Contains(want, "no effect"), 4+strings.Count(lines, "\n")
		if routines.HasErrors(problems) == unused || unused && (problems[0].Line != last || problems[0].Message != want) {
			t.Errorf("%s: %+v", lines, problems)
		}
	}
}

func TestWhatASenderNeedsAndLacksIsSaid(t *testing.T) {
	for sender, want := range map[string]string{
		github: fmt.Sprintf(textNeedsSignature, "X-Hub-Signature-256", "A_SECRET"), gitlab: fmt.Sprintf(textNeedsToken, "X-Gitlab-Token", "A_SECRET"),
	} {
		s := specOf(sender)
		if got := s.Needs(); got != want+textOurs {
			t.Error(got)
		}
		if s.Lacks(ofSender) != "" || s.Lacks("") != fmt.Sprintf(msgNoVariable, "A_SECRET", sender) || !strings.Contains(s.Lacks("short"), "A_SECRET is shorter") {
			t.Errorf("%s: %q, %q", sender, s.Lacks(""), s.Lacks("short"))
		}
	}
	if s := (Spec{}); s.Needs() != "" || s.Lacks("") != "" {
		t.Error("a webhook without verify needs something")
	}
}

func TestRequestsMustNameAHostOfTheListIfThereIsOne(t *testing.T) {
	for host, fine := range map[string]bool{
		"hooks.example.org": true, "HOOKS.example.org": true, "hooks.example.org:443": true, "hooks.example.org:8420": true, "hooks.example.org.": true,
		"127.0.0.1:8420": true, "[::1]:8420": true, "[::1]": true, "::1": true, "~::1": false, "localhost": true, "localhost:1": true,
		"port.example.org": false, "port.example.org:8443": true, "port.example.org:443": false,
		"safe.example.org": true, "plain.example.org": true, "example.org": false, "evil.example.net": false, "hooks.example.org.evil.net": false, "": false, "hooks.example.org:99999": false, "10.0.0.1": false,
	} {
		r := newRig(t, func(o *Options) {
			o.Hosts = func() string {
				return "hooks.example.org,port.example.org:8443,safe.example.org:443,plain.example.org:80"
			}
		})
		for _, path := range []string{"/hook/fixed", "/healthz"} {
			request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			if request.Host = host; path == "/hook/fixed" {
				request = with(httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"status":"up"}`)), "Authorization", "Bearer "+secret)
				request.Host = host
			}
			w := r.serve(request)
			if (w.Code == http.StatusMisdirectedRequest) == fine || !fine && w.Body.String() != `{"error":"this host is not in webhook_hosts"}`+"\n" {
				t.Errorf("%q: %s answers %d %s", host, path, w.Code, w.Body)
			}
		}
	}
	if w := newRig(t, nil).post("fixed", `{"status":"up"}`); w.Code != http.StatusAccepted {
		t.Errorf("without a list: %d", w.Code)
	}
}

// What is kept has the same meaning for any payload and schema: no declared value changes.
func TestWhatASchemaLeavesOpenIsKeptWhole(t *testing.T) {
	body := `{"a":{"b":1.50,"c":[1,{"d":"\u003c","e":2}]},"f":null,"g":"x"}`
	for text, want := range map[string]string{
		`{}`:                body,
		`{"properties":{}}`: body,
		`{"$ref":"#/definitions/x","properties":{"g":{}}}`:                            body,
		`{"properties":{"g":{}},"additionalProperties":true}`:                         body,
		`{"properties":{"g":{}},"patternProperties":{"^a":{}}}`:                       body,
		`{"properties":{"g":{}},"additionalProperties":false}`:                        `{"g":"x"}`,
		`{"properties":{"f":{},"none":{}}}`:                                           `{"f":null}`,
		`{"properties":{"none":{}}}`:                                                  `{}`,
		`{"properties":{"a":{"properties":{"b":{}}}}}`:                                `{"a":{"b":1.50}}`,
		`{"properties":{"a":true,"g":{"items":{}}}}`:                                  `{"a":{"b":1.50,"c":[1,{"d":"\u003c","e":2}]},"g":"x"}`,
		`{"properties":{"a":{"properties":{"c":{"items":{"properties":{"d":{}}}}}}}}`: `{"a":{"c":[1,{"d":"\u003c"}]}}`,
	} {
		list, err := readObject([]byte(text))
		testkit.Must(t, err)
		if got := string(shapeOf(asMap(list)).cut([]byte(body))); got != want {
			t.Errorf("%s keeps\n%s, not\n%s", text, got, want)
		}
	}
	if fmt.Sprint(strconv.Quote(string((*shape)(nil).cut([]byte("[1]"))))) != `"[1]"` {
		t.Error("no shape cuts something")
	}
}
