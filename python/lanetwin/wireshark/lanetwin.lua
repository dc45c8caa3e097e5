-- TLPs of PCI Express in capture files of lanetwin, for Wireshark and tshark.
--
--   wireshark -X lua_script:lanetwin.lua run.pcapng
--
-- A packet of link type USER0 is a header of lanetwin (24 bytes, docs/exports.md), then the header of a TLP in the
-- layout of the PCI Express Base Specification, non-flit mode. The payload is not captured.
--
-- MIT License
--
-- Copyright (c) the contributors of lanetwin
--
-- Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
-- documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
-- rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
-- persons to whom the Software is furnished to do so, subject to the following conditions:
--
-- The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
-- Software.
--
-- THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
-- WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
-- COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
-- OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

local VERSION = 1
local TICKS_PER_PS = 1024
local BEFORE_MIN = 24

local lanetwin = Proto("lanetwin", "lanetwin link")
local tlp = Proto("pcie_tlp", "PCI Express Transaction Layer Packet")

local directions = { [0] = "there: from the end of the link that is written first", [1] = "back" }
local rates = { [1] = "2.5 GT/s", [2] = "5 GT/s", [3] = "8 GT/s", [4] = "16 GT/s", [5] = "32 GT/s", [6] = "64 GT/s" }
local fmts = {
  [0] = "3 DW header, no data",
  [1] = "4 DW header, no data",
  [2] = "3 DW header, with data",
  [3] = "4 DW header, with data",
  [4] = "TLP Prefix",
}
local statuses = {
  [0] = "Successful Completion (SC)",
  [1] = "Unsupported Request (UR)",
  [2] = "Request Retry Status (RRS)",
  [4] = "Completer Abort (CA)",
}

local l = {
  version = ProtoField.uint8("lanetwin.version", "Version"),
  length = ProtoField.uint8("lanetwin.length", "Header length"),
  direction = ProtoField.uint8("lanetwin.direction", "Direction", base.DEC, directions),
  rate = ProtoField.uint8("lanetwin.rate", "Data Rate", base.DEC, rates),
  width = ProtoField.uint8("lanetwin.width", "Link Width"),
  link = ProtoField.uint16("lanetwin.link", "Link"),
  sequence = ProtoField.uint16("lanetwin.sequence", "TLP Sequence Number", base.DEC, nil, 0x0fff),
  wire = ProtoField.uint16("lanetwin.wire_bytes", "Bytes on the wire"),
  handle = ProtoField.uint32("lanetwin.handle", "Transfer"),
  ticks = ProtoField.uint64("lanetwin.start", "Start [1/1024 ps]"),
  time = ProtoField.double("lanetwin.time_ns", "Start [ns]"),
}
lanetwin.fields = l

local t = {
  fmt = ProtoField.uint32("pcie_tlp.fmt", "Fmt", base.HEX, fmts, 0xe0000000),
  kind = ProtoField.uint32("pcie_tlp.type", "Type", base.HEX, nil, 0x1f000000),
  name = ProtoField.string("pcie_tlp.name", "TLP"),
  tag9 = ProtoField.bool("pcie_tlp.t9", "T9", 32, nil, 0x00800000),
  tc = ProtoField.uint32("pcie_tlp.tc", "TC", base.DEC, nil, 0x00700000),
  tag8 = ProtoField.bool("pcie_tlp.t8", "T8", 32, nil, 0x00080000),
  ido = ProtoField.bool("pcie_tlp.attr.ido", "Attr: ID-Based Ordering", 32, nil, 0x00040000),
  ln = ProtoField.bool("pcie_tlp.ln", "LN", 32, nil, 0x00020000),
  th = ProtoField.bool("pcie_tlp.th", "TH", 32, nil, 0x00010000),
  td = ProtoField.bool("pcie_tlp.td", "TD", 32, nil, 0x00008000),
  ep = ProtoField.bool("pcie_tlp.ep", "EP", 32, nil, 0x00004000),
  ro = ProtoField.bool("pcie_tlp.attr.ro", "Attr: Relaxed Ordering", 32, nil, 0x00002000),
  ns = ProtoField.bool("pcie_tlp.attr.ns", "Attr: No Snoop", 32, nil, 0x00001000),
  at = ProtoField.uint32("pcie_tlp.at", "AT", base.DEC, nil, 0x00000c00),
  length_field = ProtoField.uint32("pcie_tlp.length_field", "Length (field)", base.DEC, nil, 0x000003ff),
  length = ProtoField.uint32("pcie_tlp.length", "Length [DW]"),
  requester = ProtoField.string("pcie_tlp.requester_id", "Requester ID"),
  completer = ProtoField.string("pcie_tlp.completer_id", "Completer ID"),
  tag = ProtoField.uint16("pcie_tlp.tag", "Tag"),
  last_be = ProtoField.uint8("pcie_tlp.last_be", "Last DW BE", base.HEX, nil, 0xf0),
  first_be = ProtoField.uint8("pcie_tlp.first_be", "First DW BE", base.HEX, nil, 0x0f),
  address = ProtoField.uint64("pcie_tlp.address", "Address", base.HEX),
  status = ProtoField.uint16("pcie_tlp.completion_status", "Completion Status", base.DEC, statuses, 0xe000),
  bcm = ProtoField.bool("pcie_tlp.bcm", "BCM", 16, nil, 0x1000),
  count_field = ProtoField.uint16("pcie_tlp.byte_count_field", "Byte Count (field)", base.DEC, nil, 0x0fff),
  count = ProtoField.uint16("pcie_tlp.byte_count", "Byte Count"),
  lower = ProtoField.uint8("pcie_tlp.lower_address", "Lower Address", base.HEX, nil, 0x7f),
  code = ProtoField.uint8("pcie_tlp.message_code", "Message Code", base.HEX),
}
tlp.fields = t

local bad_version = ProtoExpert.new("lanetwin.bad_version", "This version of the header is not known", expert.group.MALFORMED, expert.severity.ERROR)
local too_short = ProtoExpert.new("lanetwin.too_short", "The header is cut", expert.group.MALFORMED, expert.severity.ERROR)
lanetwin.experts = { bad_version, too_short }

-- bus:device.function, as lspci prints it
local function identifier(range)
  local raw = range:uint()
  return string.format("%02x:%02x.%x", bit.rshift(raw, 8), bit.band(bit.rshift(raw, 3), 0x1f), bit.band(raw, 7))
end

-- a field of which zero means the most that it can hold and one more
local function from_one(value, most)
  return value == 0 and most or value
end

local function name_of(fmt, kind)
  local with_data = fmt == 2 or fmt == 3
  if kind == 0x00 then return with_data and "MWr" or "MRd" end
  if kind == 0x01 then return "MRdLk" end
  if kind == 0x02 then return with_data and "IOWr" or "IORd" end
  if kind == 0x04 then return with_data and "CfgWr0" or "CfgRd0" end
  if kind == 0x05 then return with_data and "CfgWr1" or "CfgRd1" end
  if kind == 0x0a then return with_data and "CplD" or "Cpl" end
  if kind == 0x0b then return with_data and "CplDLk" or "CplLk" end
  if kind >= 0x10 and kind <= 0x17 then return with_data and "MsgD" or "Msg" end
  return string.format("Fmt %d Type 0x%02x", fmt, kind)
end

local function add_tag(tree, range, upper)
  local tag = upper + range:uint()
  tree:add(t.tag, range, tag)
  return tag
end

local function memory_request(buffer, tree, fmt, upper)
  tree:add(t.requester, buffer(4, 2), identifier(buffer(4, 2)))
  local tag = add_tag(tree, buffer(6, 1), upper)
  tree:add(t.last_be, buffer(7, 1))
  tree:add(t.first_be, buffer(7, 1))
  local wide = fmt == 1 or fmt == 3
  local range = wide and buffer(8, 8) or buffer(8, 4)
  local address = wide and range:uint64() or UInt64(range:uint())
  address = address:band(UInt64(0xfffffffc, 0xffffffff))
  tree:add(t.address, range, address)
  return string.format("0x%s tag %d", address:tohex(), tag)
end

local function completion(buffer, tree, upper)
  tree:add(t.completer, buffer(4, 2), identifier(buffer(4, 2)))
  tree:add(t.status, buffer(6, 2))
  tree:add(t.bcm, buffer(6, 2))
  tree:add(t.count_field, buffer(6, 2))
  local count = from_one(bit.band(buffer(6, 2):uint(), 0xfff), 4096)
  tree:add(t.count, buffer(6, 2), count)
  tree:add(t.requester, buffer(8, 2), identifier(buffer(8, 2)))
  local tag = add_tag(tree, buffer(10, 1), upper)
  tree:add(t.lower, buffer(11, 1))
  return string.format("%s tag %d, %d B to come", identifier(buffer(8, 2)), tag, count)
end

local function message(buffer, tree)
  tree:add(t.requester, buffer(4, 2), identifier(buffer(4, 2)))
  tree:add(t.tag, buffer(6, 1))
  tree:add(t.code, buffer(7, 1))
  return string.format("code 0x%02x", buffer(7, 1):uint())
end

function tlp.dissector(buffer, pinfo, root)
  local tree = root:add(tlp, buffer())
  local word = buffer(0, 4):uint()
  local fmt, kind = bit.rshift(word, 29), bit.band(bit.rshift(word, 24), 0x1f)
  local needed = (fmt == 1 or fmt == 3) and 16 or 12
  if buffer:len() < needed then
    tree:add_proto_expert_info(too_short)
    return
  end
  local name = name_of(fmt, kind)
  tree:add(t.name, buffer(0, 1), name)
  for _, field in ipairs({ t.fmt, t.kind, t.tag9, t.tc, t.tag8, t.ido, t.ln, t.th, t.td, t.ep, t.ro, t.ns, t.at, t.length_field }) do
    tree:add(field, buffer(0, 4))
  end
  local length = from_one(bit.band(word, 0x3ff), 1024)
  if name == "Cpl" or name == "Msg" then
    length = 0
  end
  tree:add(t.length, buffer(2, 2), length)
  local upper = 0
  if bit.band(word, 0x00800000) ~= 0 then upper = upper + 512 end
  if bit.band(word, 0x00080000) ~= 0 then upper = upper + 256 end
  local about = ""
  if kind == 0x00 then
    about = memory_request(buffer, tree, fmt, upper)
    pinfo.cols.src = identifier(buffer(4, 2))
  elseif kind == 0x0a or kind == 0x0b then
    about = completion(buffer, tree, upper)
    pinfo.cols.src, pinfo.cols.dst = identifier(buffer(4, 2)), identifier(buffer(8, 2))
  elseif kind >= 0x10 and kind <= 0x17 then
    about = message(buffer, tree)
    pinfo.cols.src = identifier(buffer(4, 2))
  end
  pinfo.cols.protocol = "PCIe"
  pinfo.cols.info = string.format("%s %d DW %s", name, length, about)
  tree:append_text(string.format(", %s, %d DW", name, length))
end

function lanetwin.dissector(buffer, pinfo, root)
  if buffer:len() < BEFORE_MIN then
    root:add(lanetwin, buffer()):add_proto_expert_info(too_short)
    return
  end
  local length = buffer(1, 1):uint()
  local tree = root:add(lanetwin, buffer(0, math.min(math.max(length, BEFORE_MIN), buffer:len())))
  tree:add(l.version, buffer(0, 1))
  if buffer(0, 1):uint() ~= VERSION then
    tree:add_proto_expert_info(bad_version)
    return
  end
  tree:add(l.length, buffer(1, 1))
  tree:add(l.direction, buffer(2, 1))
  tree:add(l.rate, buffer(3, 1))
  tree:add(l.width, buffer(4, 1))
  tree:add(l.link, buffer(6, 2))
  tree:add(l.sequence, buffer(8, 2))
  tree:add(l.wire, buffer(10, 2))
  tree:add(l.handle, buffer(12, 4))
  tree:add(l.ticks, buffer(16, 8))
  tree:add(l.time, buffer(16, 8), buffer(16, 8):uint64():tonumber() / TICKS_PER_PS / 1000)
  if length < BEFORE_MIN or buffer:len() < length + 4 then
    tree:add_proto_expert_info(too_short)
    return
  end
  tlp.dissector(buffer(length):tvb(), pinfo, root)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, lanetwin)
