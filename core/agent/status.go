package agent

import (
	"context"
	"slices"
	"time"
)

// Reporter is an Engine that can say how it stands.
type Reporter interface {
	// Status is how the engine stands now. It never blocks.
	Status() Status
	// OnChange sets what is called after the status has changed. It is set once,
	// before anything else, and must not block.
	OnChange(changed func())
}

// Runner is an Engine with work in the background, such as watching what its
// processes use. Run blocks until ctx ends and everything it has started,
// sessions too, has ended. It must be called once, and before Open.
type Runner interface {
	Run(ctx context.Context) error
}

// Account is an Engine that somebody must be logged in to.
type Account interface {
	// Login begins a login and answers with the address that the user must open.
	// The login waits for Finish for as long as the engine runs; a second Login
	// replaces it.
	Login(ctx context.Context) (url string, err error)
	// Finish ends a login with the code that the page has shown.
	Finish(ctx context.Context, code string) error
}

// Status is how an engine stands. The zero value knows nothing yet.
type Status struct {
	// Name is that of the engine that answers, where there are several; else empty.
	Name string
	// Version is that of the program behind the engine, or empty.
	Version string
	// Warning is one line about something that works but may not, such as a
	// version that was never tried. Empty when there is nothing to say.
	Warning string
	// Problem is one line, with the cure, about what keeps sessions from working;
	// empty when they work.
	Problem string
	// LoginNeeded says that the problem is a missing login. LoginURL is the
	// address of a login that has begun.
	LoginNeeded bool
	LoginURL    string
	// Models asks what is known of the engine's models; nil knows none. A status is
	// wanted for every frame, its models hardly ever.
	Models func() []Model
	// Processes are what runs on the engine's behalf.
	Processes []Process
}

// Model is what an engine tells of a model.
type Model struct {
	// Names are all that it can be asked for by; "" is the engine's own choice.
	Names []string
	// AlwaysThinks says that thinking cannot be switched off; OwnMeasure that the
	// model thinks as much as it needs, whatever number of tokens is set.
	AlwaysThinks, OwnMeasure bool
}

// Model finds a model by one of its names.
func (s Status) Model(name string) (Model, bool) {
	if s.Models == nil {
		return Model{}, false
	}
	models := s.Models()
	i := slices.IndexFunc(models, func(m Model) bool { return slices.Contains(m.Names, name) })
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}

// Process is one process of an engine.
type Process struct {
	PID     int
	Session string // the session it holds
	Memory  int64  // resident bytes; 0 where unknown
	Started time.Time
}
