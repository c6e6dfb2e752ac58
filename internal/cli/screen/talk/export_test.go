package talk

// Thought is what a block of thinking says.
var Thought = thought
