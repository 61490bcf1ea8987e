import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createTempTestDirectoryWithFiles,
  spawnColloquyForTest,
} from "../../../src/cli/cli-test-process.fixture.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const TOKEN = "token-of-the-stranger-0123456789";
const PRIVATE_HOSTS = ["127.0.0.1", "127.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"];
/** Commands of an operator who publishes a console through a proxy, as docs/proxy.md explains. */
const COMMANDS = [["serve", "--exec", "cat", "--name", "cat", "--store", "memory", "--console"], ["console"]];

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "a caller of a console behind a proxy adds agents of this machine, and sends them messages",
  run: async () => {
    const problems: string[] = [];
    let calls = 0;
    const internal = createServer((_, response) => {
      calls++;
      response.writeHead(404).end("a secret of the private network");
    });
    await once(internal.listen(0, "localhost"), "listening");
    const { port } = internal.address() as AddressInfo;
    const cwd = await createTempTestDirectoryWithFiles({ tokens: `stranger ${TOKEN}\n` });
    for (const command of COMMANDS) {
      const consolePort = String(await findFreePort());
      const flags = ["--port", consolePort, "--public-url", "https://agents.example"];
      const cli = spawnColloquyForTest([...command, ...flags, "--bearer-file", "tokens"], cwd);
      await cli.waitForOutput("Ctrl-C stops it.");
      const request = (path: string, body: object): Promise<Response> =>
        fetch(`http://127.0.0.1:${consolePort}/console/api/${path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${TOKEN}`,
            "content-type": "application/json",
            "x-colloquy-console": "1",
          },
          body: JSON.stringify(body),
        });
      for (const host of PRIVATE_HOSTS) {
        const { id } = (await (await request("agents", { url: `http://${host}:${port}` })).json()) as {
          id: string;
        };
        await (await request(`agents/${id}/messages`, { message: { parts: [{ text: "hi" }] } })).text();
        if (calls > 0) problems.push(`colloquy ${command[0]} called ${host}`);
        calls = 0;
      }
      cli.child.kill("SIGTERM");
      await cli.result;
    }
    internal.close();
    return { problems };
  },
});

/** The command prints its public URL, and not its port. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
