import { expect, it } from "vitest";
import type { Artifact, StreamResponse } from "../../protocol/index.ts";
import { splitSavedFiles } from "./saved-file-artifacts.ts";

const file: Artifact = { artifactId: "a.txt_2", name: "a.txt", parts: [{ text: "content" }] };
const toUpdate = (artifact: Artifact): StreamResponse => ({
  artifactUpdate: { taskId: "T", contextId: "C", artifact, lastChunk: true },
});

it("an artifact with the name, version, and content of a file is a saved file", () => {
  expect(splitSavedFiles(toUpdate(file))).toEqual({
    files: [{ artifactId: "a.txt_2", filename: "a.txt", part: { text: "content" } }],
    rest: undefined,
  });
});

it.each<[string, Artifact]>([
  ["a name", { artifactId: "undefined_2", parts: [{ text: "content" }] }],
  ["a part", { ...file, parts: [] }],
  ["a version", { ...file, artifactId: "a.txt" }],
  ["content", { ...file, parts: [{ url: "https://example.com/a.txt" }] }],
])("an artifact without %s is not a saved file", (_, artifact) => {
  expect(splitSavedFiles(toUpdate(artifact))).toEqual({ files: [], rest: toUpdate(artifact) });
});
