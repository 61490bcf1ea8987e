import { once } from "node:events";
import { createServer } from "node:net";

const FIRST_PORT = 20_000;
/** Linux assigns ports from 32768 on to listeners on port 0 and to outgoing connections. */
const PORT_COUNT = 12_000;

/**
 * Returns a free port for a server that a test stops and starts again on the same port. Between the stop and the start,
 * the operating system does not assign the port to other processes.
 */
export async function findRestartPort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch {
      continue;
    }
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
