/**
 * Declares an A2A extension and requests it from a client. An extension is a URI that both sides know. An
 * extension is active only if the agent card declares it and the client requests it. The translator explains
 * its translation to clients that request the extension.
 *
 *     node examples/05-extension.ts
 */
import { agent, connect, createServer, data } from "colloquy";

const EXPLAIN = "https://translator.example/extensions/explain/v1";

const translator = agent(
  {
    name: "translator",
    description: "Translates into Latin",
    capabilities: {
      extensions: [{ uri: EXPLAIN, description: "Adds an explanation of the translation as data" }],
    },
    // The server rejects all other input types.
    defaultInputModes: ["text/plain"],
  },
  async function* ({ text, extensions }) {
    yield text === "I came, I saw" ? "veni, vidi" : "nescio";
    if (!extensions.includes(EXPLAIN)) return;
    const parts = [data({ tense: "perfect" })];
    yield { artifact: { artifactId: "why", parts, extensions: [EXPLAIN] } };
  },
);

const server = createServer(translator, { store: "memory" });
const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
  server.fetch(new Request(input, init));

for (const extensions of [[], [EXPLAIN]]) {
  const remote = await connect("http://translator.example", { fetch, extensions });
  const answer = await remote.send("I came, I saw");
  if ("task" in answer) console.log(JSON.stringify(answer.task.artifacts));
}
await server.close();
