import { once } from "node:events";
import { createServer } from "node:net";

const FIRST_PORT = 20_000;
/** Number of ports of each test process. Linux assigns ports from 32768 on to port 0 and to outgoing connections. */
const PORT_COUNT = 1000;
const MAX_PROCESSES = 12;

/**
 * Returns a free port for a server that a test stops and starts again on the same port. Between the stop and the start,
 * neither the operating system nor a test in another process of vitest takes the port.
 */
export async function findRestartPort(): Promise<number> {
  const processNumber = Number(process.env["VITEST_POOL_ID"] ?? 0) % MAX_PROCESSES;
  for (;;) {
    const port = FIRST_PORT + processNumber * PORT_COUNT + Math.floor(Math.random() * PORT_COUNT);
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
