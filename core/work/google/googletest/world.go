package googletest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/lazyregexp"
)

// eventIDs matches the ids that a client may choose.
var eventIDs = lazyregexp.New(`^[a-v0-9]{5,1000}$`)

// carryOut performs a method; the lock is held.
func (s *Server) carryOut(id string, vars map[string]string, q url.Values, body object) answer {
	switch id {
	case "tasks.tasks.list", "tasks.tasks.insert", "tasks.tasks.get", "tasks.tasks.patch", "tasks.tasks.delete":
		return s.tasks(strings.TrimPrefix(id, "tasks.tasks."), vars, q, body)
	case "calendar.events.list", "calendar.events.insert", "calendar.events.get", "calendar.events.patch", "calendar.events.delete":
		return s.events(strings.TrimPrefix(id, "calendar.events."), vars, q, body)
	}
	return s.mail(id, vars, q)
}

// find finds an object by its id.
func find(list []object, id string) (int, object) {
	i := slices.IndexFunc(list, func(o object) bool { return o["id"] == id })
	if i < 0 {
		return i, nil
	}
	return i, list[i]
}

// merge changes fields: null removes one, and objects are merged field by field.
func merge(o, change object) {
	for name, v := range change {
		inner, deep := v.(object)
		old, was := o[name].(object)
		switch {
		case v == nil:
			delete(o, name)
		case deep && was:
			merge(old, inner)
		default:
			o[name] = v
		}
	}
}

// page returns one page of a list.
func page(out object, name string, list []object, q url.Values, most int) answer {
	size := min(most, 100)
	if n, err := strconv.Atoi(q.Get("maxResults")); err == nil {
		size = min(max(n, 1), most)
	}
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("pageToken"), "page"))
	from = min(from, len(list))
	to := min(from+size, len(list))
	out[name] = list[from:to]
	if to < len(list) {
		out["nextPageToken"] = fmt.Sprintf("page%d", to)
	}
	return answer{body: out}
}

func (s *Server) stamp() string { return s.now().UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *Server) id(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s%04d", prefix, s.serial)
}

// AddTask adds a task to a list.
func (s *Server) AddTask(list string, task object) string {
	s.Lock()
	defer s.Unlock()
	return s.addTask(list, task)
}

func (s *Server) addTask(list string, task object) string {
	o := object{"kind": "tasks#task", "id": s.id("MDM"), "status": "needsAction", "updated": s.stamp()}
	merge(o, task)
	s.Tasks[list] = append([]object{o}, s.Tasks[list]...) // new tasks come first
	return o["id"].(string)
}

func (s *Server) tasks(what string, vars map[string]string, q url.Values, body object) answer {
	list, known := s.Tasks[vars["tasklist"]]
	if !known {
		return fail(404, "notFound", "Task list not found.")
	}
	at, task := find(list, vars["task"])
	if task == nil && what != "list" && what != "insert" {
		return fail(404, "notFound", "Task not found.")
	}
	switch what {
	case "list":
		var shown []object
		for _, t := range list {
			done, hidden := t["status"] == "completed", t["hidden"] == true
			due, dated := t["due"].(string)
			if q.Has("dueMin") && (!dated || due < q.Get("dueMin")) || q.Has("dueMax") && (!dated || due >= q.Get("dueMax")) {
				continue // the upper bound is exclusive
			}
			if since, err := time.Parse(time.RFC3339, q.Get("updatedMin")); err == nil {
				if updated, _ := time.Parse(time.RFC3339, t["updated"].(string)); updated.Before(since) {
					continue
				}
			}
			if (!done || q.Get("showCompleted") != "false") && (!hidden || q.Get("showHidden") == "true") {
				shown = append(shown, t)
			}
		}
		return page(object{"kind": "tasks#tasks"}, "items", shown, q, 100)
	case "insert":
		s.addTask(vars["tasklist"], body)
		return answer{body: s.Tasks[vars["tasklist"]][0]}
	case "patch":
		merge(task, body)
		if task["updated"] = s.stamp(); body["status"] == "completed" {
			task["completed"] = s.stamp()
		}
	case "delete":
		s.Tasks[vars["tasklist"]] = slices.Delete(slices.Clone(list), at, at+1)
		return answer{status: 204}
	}
	return answer{body: task}
}

// AddEvent adds an event to a calendar.
func (s *Server) AddEvent(calendar string, event object) {
	s.Lock()
	defer s.Unlock()
	o := ownEvent()
	merge(o, event)
	s.Events[calendar] = append(s.Events[calendar], o)
}

func ownEvent() object {
	return object{"kind": "calendar#event", "status": "confirmed", "organizer": object{"email": "sam@example.com", "self": true}}
}

// synced is the state of a calendar when a sync token was issued.
type synced struct {
	calendar string
	events   map[string]string // as JSON, by id
}

// syncToken returns a token for the current state of a calendar.
func (s *Server) syncToken(calendar string) string {
	seen := synced{calendar, map[string]string{}}
	for _, e := range s.Events[calendar] {
		data, _ := json.Marshal(e) // it was decoded from JSON
		seen.events[fmt.Sprint(e["id"])] = string(data)
	}
	token := s.id("sync")
	s.synced[token] = seen
	return token
}

// ForgetSync invalidates all sync tokens.
func (s *Server) ForgetSync() {
	s.Lock()
	defer s.Unlock()
	clear(s.synced)
}

// changedEvents returns the changes of a calendar since a token was issued, regardless of
// the time span the client read before.
func (s *Server) changedEvents(calendar string, q url.Values) answer {
	for _, not := range []string{"iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin"} {
		if q.Has(not) {
			return fail(400, "invalidParameter", "Sync token cannot be used with %s.", not)
		}
	}
	seen, ok := s.synced[q.Get("syncToken")]
	if !ok || seen.calendar != calendar {
		return fail(410, "fullSyncRequired", "Sync token is no longer valid, a full sync is required.")
	}
	var changed []object
	there := map[string]bool{}
	for _, e := range s.Events[calendar] {
		id := fmt.Sprint(e["id"])
		there[id] = true
		if data, _ := json.Marshal(e); string(data) != seen.events[id] {
			if e["status"] == "cancelled" {
				e = object{"id": id, "status": "cancelled"}
			}
			changed = append(changed, e)
		}
	}
	for id := range seen.events {
		if !there[id] {
			changed = append(changed, object{"id": id, "status": "cancelled"})
		}
	}
	return s.withToken(calendar, page(object{"kind": "calendar#events"}, "items", changed, q, 2500))
}

// withToken adds a sync token to the last page.
func (s *Server) withToken(calendar string, a answer) answer {
	if o := a.body.(object); o["nextPageToken"] == nil {
		o["nextSyncToken"] = s.syncToken(calendar)
	}
	return a
}

// listEvents returns the events between two moments, by start.
func (s *Server) listEvents(calendar string, q url.Values) answer {
	if q.Get("orderBy") == "startTime" && q.Get("singleEvents") != "true" {
		return fail(400, "badRequest", "The requested ordering is not available for the particular query.")
	}
	if q.Has("syncToken") {
		return s.changedEvents(calendar, q)
	}
	list := s.Events[calendar]
	low, _ := time.Parse(time.RFC3339, cmp.Or(q.Get("timeMin"), "1900-01-01T00:00:00Z"))
	high, _ := time.Parse(time.RFC3339, cmp.Or(q.Get("timeMax"), "2900-01-01T00:00:00Z"))
	var shown []object
	for _, e := range list {
		if from, to, _ := span(e); e["status"] != "cancelled" && to.After(low) && from.Before(high) {
			shown = append(shown, e)
		}
	}
	slices.SortStableFunc(shown, func(a, b object) int {
		x, _, _ := span(a)
		y, _, _ := span(b)
		return x.Compare(y)
	})
	a := page(object{"kind": "calendar#events", "summary": cmp.Or(s.Names[calendar], "sam@example.com")}, "items", shown, q, 2500)
	if q.Has("orderBy") {
		return a
	}
	return s.withToken(calendar, a)
}

// span returns the start and end of an event; false if it does not end after its start.
func span(e object) (from, to time.Time, ok bool) {
	read := func(v any) (time.Time, bool) {
		w, _ := v.(object)
		text, moment := w["dateTime"].(string)
		day, _ := w["date"].(string)
		if moment == (day != "") { // both or neither
			return time.Time{}, false
		}
		t, err := time.Parse(time.RFC3339, cmp.Or(text, day+"T00:00:00Z"))
		return t, err == nil
	}
	from, okFrom := read(e["start"])
	to, okTo := read(e["end"])
	return from, to, okFrom && okTo && to.After(from)
}

func (s *Server) events(what string, vars map[string]string, q url.Values, body object) answer {
	calendar := vars["calendarId"]
	list, known := s.Events[calendar]
	if !known {
		return fail(404, "notFound", "Not Found")
	}
	_, event := find(list, vars["eventId"])
	if event == nil && what != "list" && what != "insert" {
		return fail(404, "notFound", "Not Found")
	}
	switch what {
	case "list":
		return s.listEvents(calendar, q)
	case "insert":
		if id, given := body["id"].(string); given {
			if !eventIDs().MatchString(id) {
				return fail(400, "invalid", "Invalid resource id value.")
			}
			if _, have := find(list, id); have != nil {
				return fail(409, "duplicate", "The requested identifier already exists.")
			}
		} else {
			body["id"] = s.id("ev")
		}
		if _, _, ok := span(body); !ok {
			return fail(400, "timeRangeEmpty", "The specified time range is empty.")
		}
		event = ownEvent()
		event["htmlLink"] = "https://www.google.com/calendar/event?eid=" + body["id"].(string)
		merge(event, body)
		s.Events[calendar] = append(list, event)
	case "patch":
		changed := object{}
		for name, v := range event {
			if inner, deep := v.(object); deep {
				v = maps.Clone(inner)
			}
			changed[name] = v
		}
		merge(changed, body)
		if _, _, ok := span(changed); !ok {
			return fail(400, "timeRangeEmpty", "The specified time range is empty.")
		}
		maps.Copy(event, changed)
	case "delete":
		if event["status"] == "cancelled" {
			return fail(410, "deleted", "Resource has been deleted")
		}
		event["status"] = "cancelled"
		return answer{status: 204}
	}
	return answer{body: event}
}

// mail answers calls of the mailbox, which are all reads.
func (s *Server) mail(id string, vars map[string]string, q url.Values) answer {
	if vars["userId"] != "me" {
		return fail(403, "forbidden", "Delegation denied")
	}
	switch id {
	case "gmail.users.getProfile":
		return answer{body: object{"emailAddress": "sam@example.com"}}
	case "gmail.users.labels.list":
		return answer{body: object{"labels": s.Labels}}
	case "gmail.users.messages.list":
		var found []object
		for _, m := range s.Mails {
			unread := q.Get("q") == "is:unread" && strings.Contains(fmt.Sprint(m["labelIds"]), "UNREAD")
			if unread || strings.Contains(fmt.Sprint(m), q.Get("q")) {
				found = append(found, object{"id": m["id"], "threadId": m["id"]})
			}
		}
		return page(object{"resultSizeEstimate": len(found)}, "messages", found, q, 500)
	case "gmail.users.messages.attachments.get":
		return answer{body: object{"data": s.Files[vars["id"]], "size": len(s.Files[vars["id"]])}}
	}
	_, m := find(s.Mails, vars["id"])
	if m == nil {
		return fail(404, "notFound", "Requested entity was not found.")
	}
	if q.Get("format") == "metadata" {
		m = maps.Clone(m)
		payload := maps.Clone(m["payload"].(object))
		delete(payload, "parts")
		delete(payload, "body")
		m["payload"] = payload
	}
	return answer{body: m}
}
