import { afterEach, describe, expect, it } from "vitest";
import { collect, connect } from "../../client/index.ts";
import { acceptsMediaType, type Part, type Task } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { agent, artifact, data, file, inputRequired, status } from "./index.ts";

let server: Server | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

const image = file(new Uint8Array([1]), { mediaType: "image/png" });
const dataAgent = agent({ name: "talker", description: "Says things" }, async function* ({ configuration }) {
  yield status("Counting", data({ step: 1 }));
  yield "It is ";
  yield data({ n: null }, { source: "abacus" });
  yield acceptsMediaType(configuration, "image/png") ? image : "a picture that you can not see";
  yield artifact(
    { name: "table" },
    { data: [1, 2], mediaType: "application/vnd.table+json", filename: "t.json" },
  );
  yield inputRequired("More?", data(true));
});

async function collectParts(
  acceptedOutputModes?: string[],
): Promise<{ said: Part[]; table: Part[]; asked: Part[] }> {
  server = createServer(dataAgent, { store: "memory" });
  const remote = await connect((await server.listen()).url);
  const configuration = acceptedOutputModes ? { acceptedOutputModes } : {};
  const answer = await collect(remote.stream("hi", { configuration }));
  const { artifacts = [], status } = (answer as { task: Task }).task;
  const collectParts = (id: string): Part[] =>
    artifacts.find(({ artifactId }) => artifactId === id)?.parts ?? [];
  return { said: collectParts("answer"), table: collectParts("table"), asked: status.message?.parts ?? [] };
}

describe("the output of a generator for a client", () => {
  it.each([
    ["that names nothing", undefined],
    ["that takes everything", ["*/*"]],
    ["that takes no text either", ["application/json", "application/vnd.table+json", "image/png"]],
  ])("%s, is unchanged [F-12]", async (_, modes) => {
    const { said: output, table, asked } = await collectParts(modes);
    expect(output).toEqual([
      { text: "It is " },
      { data: { n: null }, metadata: { source: "abacus" } },
      image,
    ]);
    expect(table).toEqual([{ data: [1, 2], mediaType: "application/vnd.table+json", filename: "t.json" }]);
    expect(asked).toEqual([{ text: "More?" }, { data: true }]);
  });

  it("that accepts only text contains data as JSON text, and no part is missing [F-12]", async () => {
    const { said: output, table, asked } = await collectParts(["text/plain"]);
    const mediaType = "text/plain";
    expect(output).toEqual([
      { text: "It is " },
      { text: '{"n":null}', metadata: { source: "abacus" }, mediaType },
      { text: "a picture that you can not see" },
    ]);
    expect(table).toEqual([{ text: "[1,2]", filename: "t.json", mediaType }]);
    expect(asked).toEqual([{ text: "More?" }, { text: "true", mediaType }]);
  });

  it("that accepts only files is unchanged, because no other form exists [F-12]", async () => {
    const { asked } = await collectParts(["image/*"]);
    expect(asked).toEqual([{ text: "More?" }, { data: true }]);
  });
});
