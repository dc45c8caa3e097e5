"use strict";
// What may stand at a place of a scenario, by its JSON schema: keys of the mapping that the line is in.
function pathAt(text, offset) {
  const lines = text.slice(0, offset).split("\n");
  const last = lines[lines.length - 1];
  let indent = /^ */.exec(last)[0].length;
  const path = [];
  for (let nth = lines.length - 2; nth >= 0 && indent > 0; nth -= 1) {
    const found = /^( *)([^\s#:][^:]*):\s*(#.*)?$/.exec(lines[nth]);
    if (found && found[1].length < indent) { path.unshift(found[2].trim()); indent = found[1].length; }
  }
  const inside = last.lastIndexOf("{") > last.lastIndexOf("}") ? /([\w.-]+):\s*\{[^}]*$/.exec(last) : null;
  if (inside) path.push(...[/^\s*([\w.-]+):\s*\{/.exec(last)?.[1], inside[1]].filter((one, nth, all) => one && all.indexOf(one) === nth));
  return { path, word: /[\w.-]*$/.exec(last)[0] };
}

function resolved(schema, root, depth = 0) {
  if (!schema || depth > 8) return [];
  if (schema.$ref) return resolved(schema.$ref.slice(2).split("/").reduce((at, key) => at && at[decodeURIComponent(key)], root), root, depth + 1);
  const own = ["anyOf", "oneOf", "allOf"].flatMap((key) => schema[key] || []).concat(schema.then || [], schema.else || []);
  return [schema, ...own.flatMap((one) => resolved(one, root, depth + 1))];
}

function within(schemas, key, root) {
  return schemas.flatMap((schema) => {
    const next = [schema.properties && schema.properties[key]];
    if (!next[0] && schema.additionalProperties && typeof schema.additionalProperties === "object") next.push(schema.additionalProperties);
    for (const [pattern, one] of Object.entries(schema.patternProperties || {})) if (new RegExp(pattern, "u").test(key)) next.push(one);
    return next.filter(Boolean).flatMap((one) => resolved(one, root));
  });
}

function completions(schema, text, offset) {
  const { path, word } = pathAt(text, offset);
  const schemas = path.reduce((at, key) => within(at, key, schema), resolved(schema, schema));
  const found = new Map();
  for (const one of schemas) for (const [key, value] of Object.entries(one.properties || {})) if (!found.has(key)) found.set(key, value.description || "");
  return { word, found: [...found].filter(([key]) => key.startsWith(word) && key !== word).slice(0, 12) };
}
