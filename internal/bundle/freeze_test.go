package bundle_test

import "flag"

// freeze writes the fixture of the version that is written today. One that exists is never written anew.
var freeze = flag.Bool("freeze", false, "write testdata/v1.perdure, which must not exist in any release")
