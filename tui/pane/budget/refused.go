package budget

// Refused forgets the steps that were on their way: the core has not taken the
// last one, and the next begins at what is shown.
func (p *Pane) Refused() { p.capacity, p.refill = wish{}, wish{} }
