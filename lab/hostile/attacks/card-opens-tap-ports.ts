import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTap } from "../../../src/studio/tap/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../../src/observe/trace/recording/index.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const INTERFACES = 3_000;
const MAX_PORTS = 16;

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "a card has 3,000 addresses, for each of which the tap would open a port",
  run: async () => {
    const supportedInterfaces = Array.from({ length: INTERFACES }, (_, at) => ({
      url: `http://127.0.0.1:${20_000 + at}/`,
      protocolBinding: "JSONRPC",
      protocolVersion: "1.0",
    }));
    const card = JSON.stringify({ name: "many", capabilities: {}, supportedInterfaces });
    const agent = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(card);
    }).listen(0, "127.0.0.1");
    await once(agent, "listening");
    const writer = createTrafficWriter(createMemoryTrafficSink(), { vantage: "tap", name: "tap" });
    const target = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
    const tap = await startTap({ targets: [{ url: target }], writer });
    const response = await fetch(`${tap.targets[0]?.url}/.well-known/agent-card.json`);
    const { supportedInterfaces: rewritten } = (await response.json()) as {
      supportedInterfaces: { url: string }[];
    };
    const ports = new Set(
      rewritten.filter(({ url }, at) => url !== supportedInterfaces[at]?.url).map(({ url }) => url),
    );
    await tap.close();
    agent.close();
    agent.closeAllConnections();
    const problems = ports.size > MAX_PORTS ? [`the tap opened ${ports.size} ports for one target`] : [];
    if (ports.size === 0) problems.push("the tap opened no port");
    return { figures: { ports: ports.size }, problems };
  },
});
