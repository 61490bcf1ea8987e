import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { TcpProxy } from "./tcp-proxy.ts";

/** Starts a server that repeats what it receives, after a prefix. */
async function startEchoServer(prefix: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => socket.write(`${prefix}${bytes.toString()}`));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function connectTo(proxy: TcpProxy): Promise<Socket> {
  const socket = connect(proxy.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket.setEncoding("utf8");
}

it("holds bytes back during a partition, and delivers them afterwards", async () => {
  const proxy = await TcpProxy.listen(await startEchoServer("a"));
  onTestFinished(() => proxy.close());
  const socket = await connectTo(proxy);
  socket.write("1");
  expect(await once(socket, "data")).toEqual(["a1"]);
  proxy.beginPartition();
  socket.write("2");
  const duringPartition = await connectTo(proxy);
  duringPartition.write("3");
  // A connection past the proxy is answered, so that the bytes had the time to arrive.
  const other = await TcpProxy.listen(await startEchoServer("b"));
  onTestFinished(() => other.close());
  const control = await connectTo(other);
  control.write("4");
  await once(control, "data");
  expect(socket.readableLength + duringPartition.readableLength).toBe(0);
  proxy.endPartition();
  const [[late], [first]] = await Promise.all([once(socket, "data"), once(duringPartition, "data")]);
  expect([late, first]).toEqual(["a2", "a3"]);
});

it("forwards new connections to another port after a redirection, and closes the old ones", async () => {
  const proxy = await TcpProxy.listen(await startEchoServer("a"));
  onTestFinished(() => proxy.close());
  const old = await connectTo(proxy);
  old.write("1");
  await once(old, "data");
  const closed = once(old, "close");
  proxy.redirect(await startEchoServer("b"));
  await closed;
  const socket = await connectTo(proxy);
  socket.write("2");
  expect(await once(socket, "data")).toEqual(["b2"]);
});
