package budget

// Sending sends a message. It calls pay in the moment before the message leaves, and sends
// nothing where that fails. sent says that the message left, or may have.
type Sending func(pay func() error) (sent bool, err error)

// settlement ends a payment: it stays where the message was sent, and is given back where it
// was not.
type settlement func(sent bool) error

// attempt sends a message that pay pays for: by then it is spent in the file, so that no crash
// gives away what may have been sent. pay returns how it is settled, nil where nothing was
// paid; unsaved, what could not be written of a message that goes out all the same; and
// refused, why the message must not leave. The payment is given back too where send panics.
func attempt(send Sending, pay func() (settle settlement, unsaved, refused error)) (unsaved, err error) {
	var settle settlement
	var refused error
	sent := false
	defer func() {
		if settle == nil {
			return
		}
		if failed := settle(sent && refused == nil); failed != nil {
			unsaved = failed
		}
	}()
	sent, err = send(func() error {
		settle, unsaved, refused = pay()
		return refused
	})
	if refused != nil {
		err = refused
	}
	return unsaved, err
}
