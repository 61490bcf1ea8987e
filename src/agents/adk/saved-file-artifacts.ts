import type { JsonObject, Part, StreamResponse } from "../../protocol/index.ts";
import type { Artifact } from "../../protocol/index.ts";
import type { AdkEvent, AdkRunner, GenaiPart, SavedFile, SessionKey } from "./adk-structural-types.ts";
import type { ArtifactAgentEvent } from "./artifact-streamer.ts";
import { toGenaiPart } from "./part-conversion.ts";

/** Whether an event reports files that the run has saved. ADK's event contains only the name and version of each file. */
export function hasSavedFiles({ actions, partial }: AdkEvent): boolean {
  if (!partial)
    for (const name in actions?.artifactDelta) if (Object.hasOwn(actions.artifactDelta, name)) return true;
  return false;
}

/** Returns a copy of an event that contains the saved files. */
export async function loadSavedFiles(
  event: AdkEvent,
  artifactService: NonNullable<AdkRunner["artifactService"]>,
  session: SessionKey,
): Promise<AdkEvent> {
  const savedFiles: SavedFile[] = [];
  for (const [filename, version] of Object.entries(event.actions?.artifactDelta ?? {})) {
    const part = await artifactService.loadArtifact({ ...session, filename, version });
    if (part) savedFiles.push({ filename, version, part });
  }
  return { ...event, savedFiles };
}

/** Converts a saved file to an A2A artifact with the same id as in ADK for Python. */
export function savedFileToArtifactEvent(
  { filename, version }: SavedFile,
  part: Part,
  metadata: JsonObject,
): ArtifactAgentEvent {
  // Files of the user, not of the session, have a prefix in ADK.
  const parts = [{ filename: filename.replace(/^user:/, ""), ...part }];
  const artifact = { artifactId: `${filename}_${version}`, name: filename, parts, metadata };
  return { artifact, lastChunk: true, metadata };
}

/** A file that a peer has saved, with the id of its artifact. */
export interface PeerSavedFile {
  readonly artifactId: string;
  readonly filename: string;
  readonly part: GenaiPart;
}

/** Splits the output of a peer into saved files and the rest of the output. */
export function splitSavedFiles(response: StreamResponse): {
  files: PeerSavedFile[];
  rest: StreamResponse | undefined;
} {
  if ("artifactUpdate" in response) {
    const { artifact, append, lastChunk } = response.artifactUpdate;
    const file = append || !lastChunk ? undefined : parseSavedFile(artifact);
    return file ? { files: [file], rest: undefined } : { files: [], rest: response };
  }
  if (!("task" in response)) return { files: [], rest: response };
  const { artifacts = [] } = response.task;
  const files = artifacts.flatMap((artifact) => parseSavedFile(artifact) ?? []);
  if (files.length === 0) return { files, rest: response };
  const others = artifacts.filter((artifact) => !parseSavedFile(artifact));
  return { files, rest: { task: { ...response.task, artifacts: others } } };
}

/** Parses an artifact that contains a saved file. Files that are referenced by URL are not copied. */
function parseSavedFile({ artifactId, name, parts }: Artifact): PeerSavedFile | undefined {
  const [part] = parts;
  if (!name || !part || parts.length > 1 || !("raw" in part || "text" in part)) return undefined;
  if (!artifactId.startsWith(`${name}_`) || !/^\d+$/.test(artifactId.slice(name.length + 1)))
    return undefined;
  // A peer must not reach the files of the user's other sessions, or files outside of the artifact service.
  const filename = name.replace(/^user:/, "");
  if (/^[/\\]|[\0\\:]|(^|\/)\.\.?(\/|$)/.test(filename) || filename === "") return undefined;
  const { filename: partFilename, ...content } = part;
  return { artifactId, filename, part: toGenaiPart(partFilename === filename ? content : part) };
}
