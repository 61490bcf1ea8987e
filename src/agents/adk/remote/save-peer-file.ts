import type { InvocationContext } from "@google/adk";
import type { StreamResponse } from "../../../protocol/index.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import type { PeerSavedFile } from "../saved-file-artifacts.ts";
import {
  ARTIFACT_IDS_METADATA_KEY,
  PEER_CONTEXT_ID_METADATA_KEY,
  PEER_TASK_ID_METADATA_KEY,
  setCustomMetadata,
} from "./event-custom-metadata.ts";

/** Saves a peer's file in the caller's artifact service, and returns the event with the file version. */
export async function savePeerFile(
  { artifactId, filename, part }: PeerSavedFile,
  response: StreamResponse,
  { artifactService }: InvocationContext,
): Promise<AdkEvent> {
  const version = (await artifactService?.saveArtifact({ filename, artifact: part })) ?? 0;
  const event: AdkEvent = { actions: { artifactDelta: { [filename]: version } } };
  const ids = "artifactUpdate" in response ? response.artifactUpdate : undefined;
  const task = "task" in response ? response.task : undefined;
  setCustomMetadata(event, PEER_TASK_ID_METADATA_KEY, ids?.taskId ?? task?.id);
  setCustomMetadata(event, PEER_CONTEXT_ID_METADATA_KEY, ids?.contextId ?? task?.contextId);
  setCustomMetadata(event, ARTIFACT_IDS_METADATA_KEY, [artifactId]);
  return event;
}
