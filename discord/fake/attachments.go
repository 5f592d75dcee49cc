package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// attachmentRoot is where files are, on Discord's CDN and here.
const attachmentRoot = "/attachments/"

// linkLife is how long the address of a file works.
const linkLife = 24 * time.Hour

// File is what a person uploads. What it declares may be a lie.
type File struct {
	Name string
	Type string // declared; may be empty
	Data []byte
	Size int    // declared, in bytes; 0 is the true one
	URL  string // where the message says it is; empty is here
}

// Attachment is a file of a message.
type Attachment struct {
	File
	ID string

	path string // here; empty for a file that claims to be elsewhere
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// keep stores a file and says where it is. Callers hold the lock.
func (s *Server) keep(channel string, f File) Attachment {
	a := Attachment{ID: s.next(s.now()), File: f}
	a.Size = cmp.Or(f.Size, len(f.Data))
	a.Name = cmp.Or(f.Name, "unknown")
	// A name that could leave its folder is put into order, as Discord does.
	path := attachmentRoot + channel + "/" + a.ID + "/" + unsafeInName.ReplaceAllString(a.Name, "_")
	s.files[path] = f
	if a.URL == "" {
		a.path, a.URL = path, s.signed(path)
	}
	return a
}

// signed is the address of a file with the time when it ends, in hexadecimal
// seconds (reference, "Signed Attachment CDN URLs").
func (s *Server) signed(path string) string {
	now := s.now()
	return fmt.Sprintf("%s%s?ex=%x&is=%x&hm=0", s.base, path, now.Add(linkLife).Unix(), now.Unix())
}

// serveAttachment plays the CDN, with the same fault plans as REST: a cut here
// ends the connection in the middle of the file.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	c := &call{method: r.Method, path: r.URL.Path}
	f := s.takeFault(c.method, c.path)
	entry := s.arrive(c)
	s.mu.Lock()
	file, found := s.files[r.URL.Path]
	s.mu.Unlock()
	end, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	a := &answer{status: http.StatusOK, raw: file.Data, header: http.Header{"Content-Type": {file.Type}}}
	if !found || err != nil || s.now().Unix() >= end {
		a = &answer{status: http.StatusNotFound, raw: []byte("This content is no longer available."), header: http.Header{"Content-Type": {"text/plain"}}}
	}
	if f != nil {
		if !s.linger(r.Context(), f.plan) {
			return
		}
		if f.plan.answers() {
			a = f.plan.answer()
		}
	}
	s.decide(entry, a)
	if a.cut && found {
		w.Header().Set("Content-Length", strconv.Itoa(len(file.Data)))
		_, _ = w.Write(file.Data[:len(file.Data)/2])
		_ = http.NewResponseController(w).Flush()
	}
	a.deliver(w)
}
