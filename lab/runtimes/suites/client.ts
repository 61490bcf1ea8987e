/** The client against a server over real sockets, also over gRPC and over a network that breaks connections. */
import "../../../src/client/colloquy.test.ts";
import "../../../src/client/stream/resumable-stream.test.ts";
