"use strict";
// What is asked of the server: answers as objects, mistakes as errors that carry their diagnostics.
async function asked(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const found = (answer.headers.get("content-type") || "").includes("json") ? await answer.json() : { error: await answer.text() };
  if (answer.ok) return found;
  const error = new Error(found.error || (found.diagnostics || []).map((one) => one.message).join("; ") || "no answer");
  error.diagnostics = found.diagnostics || [];
  throw error;
}

const query = (path, values) => `${path}?${new URLSearchParams(values)}`;

// Of several questions in a row only the last one's answer counts.
function latest(ask) {
  let nth = 0;
  return async (...given) => {
    const own = ++nth;
    const found = await ask(...given);
    return own === nth ? found : null;
  };
}
