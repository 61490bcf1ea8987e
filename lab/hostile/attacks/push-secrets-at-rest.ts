import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, connect, createServer } from "../../../src/entries/colloquy.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const SECRET = "webhook-secret-0123456789";

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "a reader of the store's files searches the secrets of webhooks",
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-hostile-"));
    const echo = agent({ name: "echo", description: "Repeats the message" }, async function* ({ text }) {
      yield text;
    });
    const server = createServer(echo, {
      store: `sqlite:${join(folder, "tasks.db")}`,
      push: { allowPrivate: true },
    });
    try {
      const { url } = await server.listen();
      const client = await connect(url);
      const taskPushNotificationConfig = {
        url: "http://127.0.0.1:9/",
        token: SECRET,
        authentication: { scheme: "Bearer", credentials: SECRET },
      };
      await client.send("hi", { configuration: { taskPushNotificationConfig } });
      // The folder also contains the socket for maintenance.
      const files = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && readFileSync(join(folder, entry.name)).includes(SECRET))
        .map(({ name }) => name);
      return { problems: files.map((name) => `${name} contains the secret`) };
    } finally {
      await server.close({ graceMs: 0 });
      rmSync(folder, { recursive: true });
    }
  },
});
