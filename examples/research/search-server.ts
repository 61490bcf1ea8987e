/**
 * An MCP server over stdio with one tool, `hybrid_search`, over the documents of a folder:
 *
 *     node search-server.ts FOLDER
 *
 * Full text always; vectors too when `EMBEDDING_MODEL` names a model. The folder is read once, at the start.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { createEmbedder } from "./models.ts";
import { readPassages } from "./passages.ts";
import { SearchIndex } from "./search-index.ts";

const [folder = ""] = process.argv.slice(2);
const embeddingModel = process.env["EMBEDDING_MODEL"];
const searchIndex = await SearchIndex.create(
  await readPassages(folder),
  embeddingModel ? await createEmbedder(embeddingModel) : undefined,
);

const inputSchema = z.object({
  query: z.string().describe("What to look for"),
  limit: z.number().int().min(1).max(100).default(20).describe("At most this many documents"),
});
const outputSchema = z.object({
  mode: z.enum(["fulltext", "hybrid"]).describe("Whether vectors had a say"),
  results: z.array(
    z.object({
      document: z.string(),
      title: z.string(),
      score: z.number(),
      passages: z.array(z.object({ heading: z.string(), text: z.string(), score: z.number() })),
    }),
  ),
});

serveStdio(() => {
  const server = new McpServer({ name: "documents", version: "1.0.0" });
  server.registerTool(
    "hybrid_search",
    { description: "Finds documents, with the passages that match best", inputSchema, outputSchema },
    async ({ query, limit }) => {
      const found = await searchIndex.search(query, limit);
      return { content: [{ type: "text", text: JSON.stringify(found) }], structuredContent: { ...found } };
    },
  );
  return server;
});
