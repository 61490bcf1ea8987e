import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createServer } from "../../../src/server/index.ts";
import { startTap } from "../../../src/studio/tap/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../../src/observe/trace/recording/index.ts";
import { ATTACKED_AGENTS } from "../attacked-server.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

/** Request targets with Host headers that must not pass as a loopback host. */
const FORGED_REQUESTS: readonly (readonly [target: string, ...hosts: string[]])[] = [
  ["/a2a", "evil.example"],
  ["/a2a", "evil@localhost"],
  ["/a2a", "localhost@evil.example"],
  ["/a2a", "localhost, evil.example"],
  ["/a2a", "localhost", "evil.example"],
  ["/a2a", "localhost/evil.example"],
  ["/a2a", "localhost.evil.example"],
  ["/a2a", "2130706433"],
  ["http://evil.example/a2a", "localhost"],
  ["http://evil@localhost/a2a", "localhost"],
];

/** Paths of targets that the tap and the metrics port ignore or do not have. */
const OTHER_PATHS: Readonly<Record<string, string>> = { tap: "/a2a", metrics: "/metrics" };

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "requests whose Host header or absolute target poses as loopback",
  run: async () => {
    const server = createServer(ATTACKED_AGENTS.echo, { store: "memory", metrics: { port: 0 } });
    const { port, url, metrics } = await server.listen();
    const writer = createTrafficWriter(createMemoryTrafficSink(), { vantage: "tap", name: "tap" });
    const tap = await startTap({ targets: [{ url }], writer });
    const otherPorts = { tap: Number(new URL(tap.targets[0]?.url ?? "").port), metrics: metrics?.port ?? 0 };
    const problems: string[] = [];
    for (const [target, ...hosts] of FORGED_REQUESTS) {
      const status = await sendRawGet(port, target, hosts);
      if (status < 400 || status >= 500)
        problems.push(`GET ${target} with Host ${hosts.join(" and ")}: ${status}`);
    }
    for (const [name, otherPort] of Object.entries(otherPorts))
      for (const hosts of FORGED_REQUESTS.flatMap(([target, ...forged]) =>
        target === "/a2a" ? [forged] : [],
      )) {
        const status = await sendRawGet(otherPort, OTHER_PATHS[name] ?? "/", hosts);
        if (status !== 400 && status !== 403)
          problems.push(`GET from the ${name} with Host ${hosts.join(" and ")}: ${status}`);
      }
    await tap.close();
    if ((await sendRawGet(port, `http://127.0.0.1:${port}/a2a`, ["localhost"])) !== 200)
      problems.push("a request target in absolute form does not work");
    await server.close();
    return { problems };
  },
});

async function sendRawGet(port: number, target: string, hosts: readonly string[]): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const lines = [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `host: ${host}`), "connection: close"];
  socket.end(`${lines.join("\r\n")}\r\n\r\n`);
  return Number((await text(socket)).split(" ")[1]);
}
