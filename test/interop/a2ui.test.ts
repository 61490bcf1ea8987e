import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { connect } from "../../src/client/index.ts";
import type { Message, Part } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const EXTENSION = "https://a2ui.org/a2a-extension/a2ui/v1.0";
const metadata = { mimeType: "application/a2ui+json" };

/** Messages of A2UI 1.0, with members that only a renderer understands. */
const SURFACE: Part[] = [
  {
    data: [{ version: "v1.0", createSurface: { surfaceId: "menu", catalogId: "basic", unknown: null } }],
    metadata,
  },
  {
    data: { version: "v1.0", updateDataModel: { surfaceId: "menu", value: { price: 1.5, tags: [] } } },
    metadata,
  },
];
const ACTION: Part = {
  data: { version: "v1.0", action: { name: "order", surfaceId: "menu", context: { seat: 4 } } },
  metadata,
};

it.each([
  ["1.0", "JSONRPC"],
  ["1.0", "HTTP+JSON"],
  ["0.3", "JSONRPC"],
] as const)(
  "A2UI 1.0 parts reach client and agent unchanged over A2A %s and %s",
  async (version, binding) => {
    const received: Message[] = [];
    const menu = agent(
      {
        name: "menu",
        description: "Shows a menu",
        capabilities: { extensions: [{ uri: EXTENSION, required: false }] },
      },
      async function* ({ message }) {
        received.push(message);
        yield* SURFACE;
      },
    );
    const server = createServer(menu, { store: "memory" });
    onTestFinished(() => server.close());
    const client = await connect((await server.listen()).url, { binding, version });
    const rendererCapabilities = { a2uiRendererCapabilities: { "1.0": { supportedCatalogIds: ["basic"] } } };
    const { task } = await client.ask({ parts: [ACTION], metadata: rendererCapabilities });
    expect(task?.artifacts?.flatMap(({ parts }) => parts)).toEqual(SURFACE);
    expect(received).toMatchObject([{ parts: [ACTION], metadata: rendererCapabilities }]);
  },
);
