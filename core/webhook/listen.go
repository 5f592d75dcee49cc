package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/fault"
)

// listen answers until ctx ends. A listener that dies, or that cannot be had, is
// told once and replaced as soon as that is possible.
func (s *Server) listen(ctx context.Context, listen func(context.Context) (net.Listener, error)) {
	for {
		l, err := listen(ctx)
		if err == nil {
			s.setAddr(l.Addr().String())
			s.o.Log.Info("webhooks are taken", "addr", l.Addr().String())
			s.taken()
			err = s.serve(ctx, l)
			s.setAddr("")
		}
		if ctx.Err() != nil {
			return
		}
		s.notTaken(err)
		pause := time.NewTimer(retryEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

func (s *Server) setAddr(addr string) {
	s.mu.Lock()
	s.addr = addr
	s.mu.Unlock()
	s.o.Changed()
}

// accepted is told what came of each Accept. After trouble a minute of calm
// means that it is over: handles may come and go by the connection.
func (s *Server) accepted(err error) {
	switch {
	case errors.Is(err, net.ErrClosed): // the end, or listen tells it
	case err != nil:
		s.notTaken(err)
	default:
		s.mu.Lock()
		calm := s.trouble == "" || time.Since(s.troubled) > time.Minute
		s.mu.Unlock()
		if calm {
			s.taken()
		}
	}
}

// notTaken tells, once, why no connection can be accepted.
func (s *Server) notTaken(err error) {
	why := acceptTrouble(err)
	s.mu.Lock()
	known := s.trouble == why
	s.trouble, s.troubled = why, time.Now()
	s.mu.Unlock()
	if !known {
		s.o.Log.Error(textNotTaken, "error", why)
	}
}

// taken tells that connections are accepted again.
func (s *Server) taken() {
	s.mu.Lock()
	again := s.trouble != ""
	s.trouble = ""
	s.mu.Unlock()
	if again {
		s.o.Log.Info(textTakenAgain)
		s.o.Notice(textTakenAgain)
	}
}

// serve answers on the listener until ctx ends.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext:    withGuest,
		ErrorLog:       slog.NewLogLogger(quiet{s.o.Log.Handler()}, slog.LevelDebug),
	}
	serving, ended := context.WithCancel(ctx)
	var closer errgroup.Group
	closer.Go(fault.Guard("the webhooks' listener", func() error {
		<-serving.Done()
		patience, release := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer release()
		if server.Shutdown(patience) != nil {
			return server.Close()
		}
		return nil
	}))
	err := server.Serve(newGate(l, maxConnections, s.accepted))
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closer.Wait())
}
