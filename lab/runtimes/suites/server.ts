/** The contract of servers, through `fetch`, a Node listener, and `listen`. */
import "../../../src/server/server.test.ts";
