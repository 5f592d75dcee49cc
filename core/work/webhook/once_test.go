package webhook

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// postAs sends a delivery with a header that identifies it.
func (p *pipes) postAs(t testing.TB, webhook, header, id string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/hook/"+webhook, strings.NewReader(`{"status":"up"}`))
	testkit.Must(t, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	if header != "" {
		request.Header.Set(header, id)
	}
	response, err := p.client().Do(request)
	testkit.Must(t, err)
	testkit.Must(t, response.Body.Close())
	return response.StatusCode
}

// L5: a delivery that was sent twice ran twice.
func TestADeliveryWithAKnownIDDoesNotRunAgainWithinAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		put(t, r.dir, "other.md", strings.ReplaceAll(fixedSpec, "fixed", "other"))
		r.index.Scan()
		l := newPipes()
		stop := r.start(t, l)
		runs := 0
		const again = -http.StatusAccepted // as the first time, without a run
		sends := func(want int, webhook, header, id string) {
			t.Helper()
			if status := l.postAs(t, webhook, header, id); status != http.StatusAccepted {
				t.Errorf("%s of %s to %s: %d", header, id, webhook, status)
			}
			if want != again {
				runs++
			}
			waitFor(time.Second)
			if n := len(r.ran()); n != runs {
				t.Errorf("%d runs, not %d", n, runs)
				runs = n
			}
		}
		restart := func() {
			stop()
			dir := r.dir
			r, l, runs = rigOn(t, dir, nil), newPipes(), 0
			stop = r.start(t, l)
		}
		for _, header := range keyHeaders {
			sends(http.StatusAccepted, "fixed", header, header+"-1")
			sends(again, "fixed", header, header+"-1")
			sends(http.StatusAccepted, "fixed", header, header+"-2")
		}
		sends(http.StatusAccepted, "other", "X-GitHub-Delivery", "X-GitHub-Delivery-1") // a webhook of its own
		sends(http.StatusAccepted, "fixed", "", "")
		sends(http.StatusAccepted, "fixed", "X-GitHub-Delivery", " ") // no id
		restart()
		sends(again, "fixed", "X-GitHub-Delivery", "X-GitHub-Delivery-1")
		for range keptMost + 20 { // enough others that the list has dropped it
			waitFor(time.Second)
			l.postAs(t, "fixed", "", "")
		}
		runs = keptMost + 20
		sends(again, "fixed", "X-GitHub-Delivery", "X-GitHub-Delivery-1")
		waitFor(2 * time.Hour) // the file is rewritten
		restart()
		sends(again, "fixed", "X-GitHub-Delivery", "X-GitHub-Delivery-1")
		if list, err := Log(r.dir, 1000); err != nil || len(list) > keptMost {
			t.Errorf("the log shows %d deliveries, %v", len(list), err)
		}
		waitFor(onceWithin)
		sends(http.StatusAccepted, "fixed", "X-GitHub-Delivery", "X-GitHub-Delivery-1")
		stop()
		data, err := os.ReadFile(r.dir.Path(LogFile))
		if testkit.Must(t, err); strings.Contains(string(data), "X-GitHub") {
			t.Error("the sender's text is in the log")
		}
	})
}

// A delivery that could not be stored can be sent again, and no other one with its id is answered as if it were stored.
func TestARefusedDeliveryCanBeSentAgain(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		testkit.Must(t, os.MkdirAll(r.dir.Path(LogFile), 0o700))
		var g errgroup.Group
		for range 5 {
			g.Go(func() error {
				if status := l.postAs(t, "fixed", "Idempotency-Key", "a"); status != statusNotStored {
					return fmt.Errorf("answered %d", status)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		testkit.Must(t, os.Remove(r.dir.Path(LogFile)))
		if status := l.postAs(t, "fixed", "Idempotency-Key", "a"); status != http.StatusAccepted {
			t.Errorf("answered %d", status)
		}
		waitFor(time.Minute)
		if len(r.ran()) != 1 {
			t.Errorf("%d runs", len(r.ran()))
		}
	})
}

func TestTheOldestOfTooManyKeysAreForgotten(t *testing.T) {
	r := newRig(t, nil)
	l, now := r.deliveryLog(), time.Now()
	for i := range mostKeys + 3 {
		k := fmt.Sprint(i)
		l.keys[k] = &record{Delivery: Delivery{Webhook: "busy", At: now.Add(time.Duration(i))}, Key: k}
	}
	l.keys["other"] = &record{Delivery: Delivery{Webhook: "calm", At: now}, Key: "other"}
	l.trimKeys(now)
	if _, old := l.keys["2"]; old || len(l.keys) != mostKeys+1 {
		t.Errorf("%d are kept", len(l.keys))
	}
	if l.keys["other"] == nil {
		t.Error("a busy webhook has pushed out the id of another one")
	}
}
