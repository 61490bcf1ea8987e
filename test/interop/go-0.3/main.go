// The official Go SDK when it spoke 0.3 only, in every binding that it had: `server` is an agent that does as it is told,
// `client <url> <binding> <version>` is a client of one.
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "server":
		err = serve()
	case len(os.Args) == 5 && os.Args[1] == "client":
		err = call(os.Args[2], os.Args[3], os.Args[4])
	default:
		err = fmt.Errorf("usage: interop server | interop client <url> <binding> <version>")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
