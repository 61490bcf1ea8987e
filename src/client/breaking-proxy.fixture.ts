import { once } from "node:events";
import { connect as dial, createServer as createProxy, type AddressInfo, type Socket } from "node:net";

/** A proxy that breaks each connection after a given number of response bytes. */
export async function createBreakingProxy(
  target: string,
): Promise<{ url: string; breakAfter(bytes: number[]): void; close(): void }> {
  const { hostname, port } = new URL(target);
  let budgets: number[] = [];
  const open = new Set<Socket>();
  const proxy = createProxy((client) => {
    const server = dial(Number(port), hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    client.pipe(server);
    server.on("data", (bytes) => {
      const [budget = Infinity, ...later] = budgets;
      client.write(bytes.subarray(0, budget));
      if (bytes.length < budget) budgets = budgets.length > 0 ? [budget - bytes.length, ...later] : [];
      else {
        budgets = later;
        client.end(() => client.resetAndDestroy());
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    breakAfter: (bytes) => (budgets = bytes),
    close: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}
