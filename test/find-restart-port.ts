import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const FIRST_PORT = 20_000;
/** Linux assigns ports from 32768 on to listeners on port 0 and to outgoing connections. */
const PORT_COUNT = 12_000;
const MAX_LISTEN_ATTEMPTS = 100;
const RETRY_DELAY_MS = 20;

/**
 * Returns a free port for a server that a test stops and starts again on the same port. Between the stop and the start,
 * the operating system does not assign the port to other processes.
 */
export async function findRestartPort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    // A listener of this process could occupy the port for some time after its end (`listenOnRestartPort`).
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return port;
    } finally {
      socket.destroy();
    }
  }
}

/**
 * Calls `listen` until the port is free. All tests are threads of one process. A child process that another test starts
 * has copies of the listening sockets of this process until its program is loaded, so that a closed socket can still
 * occupy its port.
 */
export async function listenOnRestartPort<T>(listen: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listen();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || attempt === MAX_LISTEN_ATTEMPTS)
        throw error;
      await pause(RETRY_DELAY_MS);
    }
  }
}
