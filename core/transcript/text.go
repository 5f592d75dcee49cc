package transcript

// textFile begins the line of an attached file.
const textFile = "File: "
