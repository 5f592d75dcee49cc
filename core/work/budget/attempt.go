package budget

// Sending sends a message. It calls pay just before the message leaves, and sends nothing
// if pay fails. sent means that the message left, or may have.
type Sending func(pay func() error) (sent bool, err error)

// settlement completes a payment: it keeps the payment if the message was sent, and
// refunds it otherwise.
type settlement func(sent bool) error

// attempt sends a message that pay pays for. The payment is saved before the message
// leaves, so that a crash never refunds a message that may have been sent. pay returns
// the settlement (nil if nothing was paid), unsaved (an error in saving that does not
// stop the message) and refused (the reason the message must not be sent). The payment is
// also refunded if send panics.
func attempt(send Sending, pay func() (settle settlement, unsaved, refused error)) (unsaved, err error) {
	var settle settlement
	var refused error
	sent := false
	defer func() {
		if settle == nil {
			return
		}
		if failed := settle(sent); failed != nil {
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
