import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { threadId } from "node:worker_threads";

const FIRST_PORT = 20_000;
/** Linux assigns ports from 32768 on to listeners on port 0 and to outgoing connections. */
const PORT_COUNT = 12_000;
/** Each test file runs in a thread of its own. Two threads that run at the same time try different ports. */
const PORTS_PER_THREAD = 200;
const MAX_LISTEN_ATTEMPTS = 100;
const RETRY_DELAY_MS = 20;

let triedPortCount = 0;

/**
 * Returns a free port for a server that starts later, or that a test stops and starts again on the same port. Until
 * then, the operating system does not assign the port to other processes, and other tests do not try it.
 */
export async function findTestPort(): Promise<number> {
  for (;;) {
    const portIndex = (process.pid + threadId) * PORTS_PER_THREAD + triedPortCount++;
    const port = FIRST_PORT + (portIndex % PORT_COUNT);
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
