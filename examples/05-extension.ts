/**
 * An extension is a URI that both sides know: the card declares it, a client asks for it, and only then is it active.
 * Here a translator explains its choice of words to clients that know what to do with that.
 *
 *     node examples/05-extension.ts
 */
import { agent, connect, createServer, data } from "colloquy";

const EXPLAIN = "https://translator.example/extensions/explain/v1";

const translator = agent(
  {
    name: "translator",
    description: "Translates into Latin",
    capabilities: { extensions: [{ uri: EXPLAIN, description: "Says why, as data beside the answer" }] },
    // Declared, so that the server refuses everything else.
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
