package google

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// Task is a task. Due is the midnight of a day in UTC: tasks have no time of day. The tags are Google's.
type Task struct {
	ID        string `json:"id,omitempty"`
	Title     string `json:"title,omitempty"`
	Notes     string `json:"notes,omitempty"`
	Due       string `json:"due,omitempty"`
	Status    string `json:"status,omitempty"`
	Completed string `json:"completed,omitempty"`
	Updated   string `json:"updated,omitempty"`
	Link      string `json:"webViewLink,omitempty"`
}

const completed = "completed"

// sentTask is a task in Google's JSON.
type sentTask Task

// MarshalJSON implements json.Marshaler: the task for scripts, with clean texts.
func (t Task) MarshalJSON() ([]byte, error) {
	return store.JSONLine(struct {
		ID        string `json:"id"`
		Title     string `json:"title"`
		Due       string `json:"due"` // a day, or ""
		Done      bool   `json:"done"`
		Notes     string `json:"notes"`
		Completed string `json:"completed"`
		Link      string `json:"link"`
	}{t.ID, clean.Line(t.Title), t.Day(), t.Done(), clean.Text(t.Notes), t.Completed, clean.Line(t.Link)})
}

// Done reports whether the task is completed.
func (t Task) Done() bool { return t.Status == completed }

// Day is the day that the task is due on, 2006-01-02, or "".
func (t Task) Day() string { return t.Due[:min(10, len(t.Due))] }

// DueOn is a day, 2006-01-02, in the format of Task.Due.
func DueOn(day string) string { return day + "T00:00:00.000Z" }

// TasksAPI is Google Tasks.
type TasksAPI struct{ api *api }

func onTask(method, list string, body any, id ...string) call {
	path := append([]string{"tasks", "v1", "lists", list, "tasks"}, id...)
	return call{scope: Tasks, method: method, path: path, query: url.Values{}, body: body}
}

// List returns the open tasks of a list, in its order, or all of them.
func (s *TasksAPI) List(ctx context.Context, list string, all bool) iter.Seq2[Task, error] {
	k := onTask(http.MethodGet, list, nil)
	k.query.Set("maxResults", "100")
	k.query.Set("showCompleted", "false")
	if all {
		k.query.Set("showCompleted", "true")
		k.query.Set("showHidden", "true")
	}
	return pages[Task](ctx, s.api, k)
}

// Get returns one task.
func (s *TasksAPI) Get(ctx context.Context, list, id string) (t Task, err error) {
	return t, unknown(s.api.do(ctx, onTask(http.MethodGet, list, nil, id), &t))
}

// Add makes a task, once: if the answer is lost, it looks for the task before it tries again.
func (s *TasksAPI) Add(ctx context.Context, list string, t Task) (made Task, err error) {
	k := onTask(http.MethodPost, list, sentTask(t))
	k.once = true
	for range attempts {
		begun := s.api.creds.now()
		err = s.api.do(ctx, k, &made)
		lost := (*lostError)(nil)
		if !errors.As(err, &lost) {
			return made, unknown(err)
		}
		if !lost.at.IsZero() { // on Google's clock, which counts whole seconds
			begun = begun.Add(min(0, lost.at.Sub(s.api.creds.now())) - 2*time.Second)
		}
		found, ok, looked := s.made(ctx, list, t, begun)
		if looked != nil {
			return Task{}, lostAfter(looked)
		}
		if ok {
			return found, nil
		}
	}
	return Task{}, lostAfter(err)
}

// made looks for a task like this one that was created since a moment.
func (s *TasksAPI) made(ctx context.Context, list string, t Task, since time.Time) (Task, bool, error) {
	k := onTask(http.MethodGet, list, nil)
	k.query.Set("updatedMin", since.UTC().Format(time.RFC3339))
	for have, err := range pages[Task](ctx, s.api, k) {
		if err != nil {
			return Task{}, false, err
		}
		if have.Title == t.Title && have.Notes == t.Notes && have.Day() == t.Day() {
			return have, true, nil
		}
	}
	return Task{}, false, nil
}

// Update changes these fields and leaves the rest.
func (s *TasksAPI) Update(ctx context.Context, list, id string, fields map[string]any) (now Task, err error) {
	return now, unknown(s.api.do(ctx, onTask(http.MethodPatch, list, fields, id), &now))
}

// Complete marks a task as done.
func (s *TasksAPI) Complete(ctx context.Context, list, id string) (Task, error) {
	return s.Update(ctx, list, id, map[string]any{"status": completed})
}

// Delete removes a task permanently.
func (s *TasksAPI) Delete(ctx context.Context, list, id string) error {
	return deleted(s.api.do(ctx, onTask(http.MethodDelete, list, nil, id), nil))
}
