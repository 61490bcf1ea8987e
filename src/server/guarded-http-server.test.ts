import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createGuardedHttpServer, HTTP_TIMEOUTS } from "./guarded-http-server.ts";
import { formatRawPostHead, hasLoopbackAliases, openRawTestSocket } from "./raw-socket.fixture.ts";

const SHORT_TIMEOUTS = {
  headersTimeout: 200,
  requestTimeout: 400,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 20,
};

/** Codes of the errors for which the listeners of a test closed connections. */
let closingErrorCodes: unknown[] = [];
beforeEach(() => (closingErrorCodes = []));

async function listen(
  maxConnections: number,
  timeouts = HTTP_TIMEOUTS,
  listener: RequestListener = (_incoming, outgoing) => void outgoing.end("ok"),
): Promise<number> {
  const http = createGuardedHttpServer(listener, maxConnections, timeouts).listen(0, "127.0.0.1");
  http.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    closingErrorCodes.push(code);
    socket.destroy();
  });
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return (http.address() as AddressInfo).port;
}

describe("the HTTP listener", () => {
  it("closes connections whose headers do not arrive in time [SEC-10]", async () => {
    const port = await listen(100, SHORT_TIMEOUTS);
    const silent = await openRawTestSocket(port);
    const slow = await openRawTestSocket(port);
    slow.socket.write("POST / HTTP/1.1\r\nhost: localhost\r\n");
    const timer = setInterval(() => slow.socket.write("x: y\r\n"), 20);
    await Promise.all([silent.closed, slow.closed]);
    clearInterval(timer);
    expect(closingErrorCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT", "ERR_HTTP_REQUEST_TIMEOUT"]);
  });

  it("closes connections whose body does not arrive in time", async () => {
    const port = await listen(
      100,
      SHORT_TIMEOUTS,
      (incoming) => void incoming.on("error", () => {}).resume(),
    );
    const { socket, closed } = await openRawTestSocket(port);
    socket.write(formatRawPostHead("/", { "content-length": 1000 }));
    const timer = setInterval(() => socket.write("x"), 20);
    await closed;
    clearInterval(timer);
    expect(closingErrorCodes).toEqual(["ERR_HTTP_REQUEST_TIMEOUT"]);
  });

  it.skipIf(!hasLoopbackAliases)(
    "refuses connections beyond the share of an address, and accepts connections of another address [SEC-11]",
    async () => {
      const port = await listen(8);
      const readers = [];
      for (let count = 0; count < 5; count++)
        readers.push(await openRawTestSocket(port, { localAddress: "127.0.0.2" }));
      await readers[4]?.closed;
      expect(readers[4]?.readText()).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 1/);
      const other = await openRawTestSocket(port, { localAddress: "127.0.0.3" });
      other.socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await expect.poll(other.readText).toMatch(/^HTTP\/1\.1 200 /);
      readers[0]?.socket.destroy();
      await readers[0]?.closed;
      const again = await openRawTestSocket(port, { localAddress: "127.0.0.2" });
      again.socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await expect.poll(again.readText).toMatch(/^HTTP\/1\.1 /);
      for (const { socket } of [...readers, other, again]) socket.destroy();
    },
  );
});
