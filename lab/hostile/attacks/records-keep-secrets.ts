import { connect } from "../../../src/client/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { createLogObserver } from "../../../src/observe/logging/index.ts";
import { apiKeys, generateApiKey } from "../../../src/server/auth/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { startTap } from "../../../src/studio/tap/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../../src/observe/trace/recording/index.ts";
import { SECRET_FORMS } from "../../../test/support/secret-forms.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

/** The record shortens the last body within this token. */
const LONG_TEXT = `${"x".repeat(700)} eyJ${"a".repeat(20)}.${"b".repeat(400)}.${"c".repeat(20)}`;

/** Repeats its input, as an agent does that calls tools with the credentials of its caller. */
const parrot: Agent = {
  describe: () => ({ name: "parrot", description: "Repeats" }),
  async *execute({ message: { parts, metadata } }) {
    yield { artifact: { artifactId: "a", parts } };
    if (metadata?.["fails"] === true) throw new Error(SECRET_FORMS.map(({ text }) => text).join("\n"));
    yield { status: { state: "TASK_STATE_COMPLETED" } };
  },
};

export const attack: BoundaryAttack = defineBoundaryAttack({
  title:
    "an agent repeats secrets, and a caller sends its API key in the query, to get them into records and logs",
  run: async () => {
    const { key, storedKey } = generateApiKey({ principal: "caller" });
    const sinks = { server: createMemoryTrafficSink(), tap: createMemoryTrafficSink() };
    const log: string[] = [];
    const server = createServer(parrot, {
      store: "memory",
      authenticate: apiKeys({ in: "query", name: "k", keys: [storedKey] }),
      record: createTrafficWriter(sinks.server, { vantage: "server", name: "server", maxBodyLength: 1_100 }),
      observer: createLogObserver({ format: "json", write: (line) => log.push(line) }),
    });
    const { url } = await server.listen();
    const writer = createTrafficWriter(sinks.tap, { vantage: "tap", name: "tap" });
    const tap = await startTap({ targets: [{ url }], writer });
    const client = await connect(tap.targets[0]?.url ?? "", { auth: { apiKey: key } });
    for (const { text } of SECRET_FORMS) await client.send({ parts: [{ text }] });
    await client.send({ parts: [{ text: LONG_TEXT }] });
    await client.send({ parts: [{ text: "fail" }], metadata: { fails: true } });
    await tap.close();
    await server.close();
    await writer.close();
    const problems: string[] = [];
    const texts = {
      "server's record": sinks.server.text(),
      "tap's record": sinks.tap.text(),
      log: log.join(""),
    };
    for (const [name, text] of Object.entries(texts)) {
      if (!text.includes("***")) problems.push(`the ${name} contains no redacted text`);
      const found = SECRET_FORMS.filter(({ secret }) => text.includes(JSON.stringify(secret).slice(1, -1)));
      if (found.length > 0)
        problems.push(`the ${name} contains ${found.length} secrets, such as in ${found[0]?.text}`);
      if (text.includes(key)) problems.push(`the ${name} contains the API key of the query`);
      if (text.includes("eyJaaaa"))
        problems.push(`the ${name} contains the beginning of a token that was cut`);
    }
    return { problems };
  },
});
