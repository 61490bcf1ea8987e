// Test programs for the official Go SDK in every binding and version. `server [--token TOKEN]` runs the test agent, and
// `client <url> <binding> <version>` runs the scenarios against a test agent.
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch {
	case len(os.Args) >= 2 && os.Args[1] == "server":
		err = serve()
	case len(os.Args) == 7 && os.Args[1] == "client":
		err = call(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6])
	default:
		err = fmt.Errorf("usage: interop server | interop client <url> <binding> <version>")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
