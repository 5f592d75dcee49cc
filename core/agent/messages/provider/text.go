package provider

// Words for people.
const textUnknown = "no model is called %q: there are %s; put others into providers.yaml"
