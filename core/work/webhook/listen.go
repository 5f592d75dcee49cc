package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// listen serves until ctx ends. If the address cannot be listened on, or the listener
// fails, it reports that once and tries again until it works.
func (s *Server) listen(ctx context.Context, listen func(context.Context) (net.Listener, error)) {
	trouble := ""
	for {
		l, err := listen(ctx)
		if err == nil {
			s.setAddr(l.Addr().String())
			s.o.Log.Info("webhooks are on", "addr", l.Addr().String())
			if trouble != "" {
				s.o.Notice(textTakenAgain)
			}
			trouble = ""
			err = s.serve(ctx, l)
			s.setAddr("")
		}
		if ctx.Err() != nil {
			return
		}
		if why := clean.Line(err.Error()); why != trouble {
			trouble = why
			s.o.Log.Error(textNotTaken, "error", why)
		}
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
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

// serve answers requests on the listener until ctx ends.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
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
	err := server.Serve(netutil.LimitListener(l, maxConnections))
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closer.Wait())
}

// maxConnections is how many connections are open at once. More wait until one of them ends, at the latest by a timeout.
const maxConnections = 256
