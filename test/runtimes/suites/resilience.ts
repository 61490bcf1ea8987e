/** Streams that are cut and resumed, and clients that disconnect. */
import "../../resilience/disconnect.test.ts";
import "../../resilience/resume.test.ts";
