/// Style and script of a page. The policy allows both only by their digests, so that nothing in a file name can be
/// executed.
enum HTMLAssets {
  /// SHA-256 of ``style`` and of ``script`` in base64; a test computes them.
  static let styleDigest = "O21kcRSHka3gTxzeR12Kx0ywyw38nTQ7XTiVdcG8Pvo="
  static let scriptDigest = "ELyxFbfy4GvAsbmXOEh6JA/DDD4AMKh/xqXHpzWkd60="

  static let style = """
    :root{color-scheme:light dark;--bg:#fff;--card:#f6f8fa;--line:#d0d7de;--text:#1a1d21;--muted:#57606a;--accent:#0a58ca;
    --good:#1a7f37;--bad:#b42318;--caution:#8a5a00;--p0:#0a58ca;--p1:#6f42c1;--p2:#0f766e;--p3:#b45309;--p4:#be185d;--p5:#4b5563;--p6:#0e7490;--p7:#4d7c0f;--p8:#9f1239}
    @media(prefers-color-scheme:dark){:root{--bg:#0e1116;--card:#161b22;--line:#30363d;--text:#e6edf3;--muted:#9aa4af;
    --accent:#6cb0ff;--good:#4ac26b;--bad:#ff8a80;--caution:#e0a93b;--p0:#6cb0ff;--p1:#c4a1ff;--p2:#4fd1c5;--p3:#f0a55a;--p4:#ff8ac0;--p5:#9aa4af;--p6:#67e8f9;--p7:#a3e635;--p8:#fda4af}}
    *{box-sizing:border-box}
    body{margin:0 auto;padding:1rem;max-width:80rem;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
    header{border-bottom:1px solid var(--line);margin-bottom:1rem;padding-bottom:.5rem}
    h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1rem 0 .3rem}
    header p,.rest{color:var(--muted);margin:.2rem 0;overflow-wrap:anywhere}
    nav a{margin-right:.8rem;display:inline-block}a{color:var(--accent)}
    dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.5rem;margin:.5rem 0}
    dl div{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;overflow-wrap:anywhere}
    dt{color:var(--muted);font-size:.85rem}dd{margin:0;font-variant-numeric:tabular-nums}
    .scroll{overflow:auto;max-height:32rem;border:1px solid var(--line);border-radius:6px;margin:.5rem 0}
    table{border-collapse:collapse;width:100%;font-size:.9rem}
    th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:top}
    td{max-width:40rem;overflow:hidden;text-overflow:ellipsis}
    th{background:var(--card);position:sticky;top:0;z-index:2}td.w{white-space:normal;min-width:18rem;overflow-wrap:anywhere}
    main>section:first-child>p{font-size:1.2rem;line-height:1.4;margin:.2rem 0 1rem;max-width:60rem}th button{all:unset;cursor:pointer;font-weight:600}
    th button:focus-visible,a:focus-visible,input:focus-visible,.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
    .n{text-align:right;font-variant-numeric:tabular-nums}.note td{color:var(--muted);white-space:normal}
    .good{color:var(--good)}.bad{color:var(--bad)}.caution{color:var(--caution)}
    .facets p{margin:.3rem 0;line-height:1.9}.facets a{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;
    margin-right:.2rem;text-decoration:none}.facets a[aria-current]{background:var(--accent);color:var(--bg)}
    input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:6px;padding:.2rem .5rem;width:min(22rem,100%)}
    .chart{overflow-x:auto}svg{display:block;width:100%;min-width:32rem;max-width:60rem;height:auto;margin:.5rem 0}svg text{font:11px system-ui,sans-serif;fill:var(--muted)}
    svg.stretch{min-width:0;height:1.8rem}svg.tall{height:11rem;margin:.2rem 0}.axis{vector-effect:non-scaling-stroke}
    .ends{display:flex;justify-content:space-between;gap:1rem;max-width:60rem;margin:0;color:var(--muted);font-size:.8rem}.bar,rect.moving{fill:var(--accent)}rect.rest{fill:var(--line)}.heat{fill:var(--bad)}.axis{stroke:var(--line);fill:none}
    rect.good{fill:var(--good)}rect.bad{fill:var(--bad)}rect.caution{fill:var(--caution)}
    rect.p0{fill:var(--p0)}rect.p1{fill:var(--p1)}rect.p2{fill:var(--p2)}rect.p3{fill:var(--p3)}rect.p4{fill:var(--p4)}rect.p5{fill:var(--p5)}rect.p6{fill:var(--p6)}rect.p7{fill:var(--p7)}rect.p8{fill:var(--p8)}
    .legend{list-style:none;margin:.2rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.9rem}
    .legend li::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em;border-radius:2px;background:currentColor}
    .legend .p0::before{background:var(--p0)}.legend .p1::before{background:var(--p1)}.legend .p2::before{background:var(--p2)}
    .legend .p3::before{background:var(--p3)}.legend .p4::before{background:var(--p4)}.legend .p5::before{background:var(--p5)}
    .legend .p6::before{background:var(--p6)}.legend .p7::before{background:var(--p7)}.legend .p8::before{background:var(--p8)}
    .moving::before{background:var(--accent)!important}.legend .rest{color:inherit;margin:0}.legend .rest::before{background:var(--line)}
    svg.meter{display:inline-block;width:5rem;min-width:0;height:.5rem;margin:0 0 0 .5rem}rect.out{fill:var(--accent);fill-opacity:.45}
    [hidden]{display:none}
    @media print{body{max-width:none;font-size:10pt}nav,input,.facets{display:none}.scroll{overflow:visible;max-height:none;border:0}
    th{position:static}td,th{white-space:normal;overflow-wrap:anywhere}section{break-inside:auto}}
    """

  /// Sorts by a click on a heading, and filters by facets and words. The state is in the fragment of the URL:
  /// `#files.state=failed&files.q=bam&files.sort=-bytes`. Without the script the page has the same content, except for
  /// packed rows (``HTMLPackedRows``).
  static let script = """
    "use strict";
    const read=()=>{const m=new Map();for(const p of location.hash.slice(1).split("&")){const i=p.indexOf("=");
    if(i>0)try{m.set(decodeURIComponent(p.slice(0,i)),decodeURIComponent(p.slice(i+1)))}catch{}}return m};
    const write=m=>{location.hash=[...m].map(([k,v])=>encodeURIComponent(k)+"="+encodeURIComponent(v)).join("&")};
    const set=(k,v)=>{const m=read();if(v===""||m.get(k)===v)m.delete(k);else m.set(k,v);write(m)};
    const value=c=>c.dataset.v!==undefined?Number(c.dataset.v):c.classList.contains("n")?-Infinity:c.textContent;
    const two=n=>String(n).padStart(2,"0"),div=(n,d)=>Math.floor(n/d);
    const units={d:n=>{const s=div(n,1000);return n<1000?n+" ms":s<60?s+"."+div(n%1000,100)+" s":s<3600?div(s,60)+"m "+two(s%60)+"s":
    s<86400?div(s,3600)+"h "+two(div(s,60)%60)+"m":div(s,86400)+"d "+two(div(s,3600)%24)+"h"},
    b:n=>{let d=1,i=0;while(i<6&&div(n,d)>=1024){d*=1024;i++}const w=div(n,d);
    return(i&&w<100?w+"."+div(n%d*10,d):w)+" "+["B","KiB","MiB","GiB","TiB","PiB","EiB"][i]},r:n=>units.b(n)+"/s"};
    const unpack=()=>{for(const s of document.querySelectorAll("script[data-of]")){const t=document.getElementById(s.dataset.of);
    const heads=[...t.tHead.rows[0].cells],width=heads.length;let above=[];
    const cell=(c,i,left)=>c===0?above[i]:c===1?left:c===2?{text:above[i].text.replace(/[0-9]+$/,n=>+n+1)}:typeof c==="string"?{text:c}:
    c.length===1?{text:(units[heads[i].dataset.u]||String)(c[0]),v:c[0]}:
    typeof c[0]==="number"?{text:above[i].text.slice(0,c[0])+c[1]}:{text:c[0],v:c[1],style:c[2]};
    const same=c=>typeof c==="number"&&c<0?Array(-c).fill(0):[c];
    for(const r of JSON.parse(s.textContent)){let left,row=t.tBodies[0].insertRow();above=r.flatMap(same).map((c,i)=>left=cell(c,i,left));
    above.forEach((c,i)=>{if(i===width){row=t.tBodies[0].insertRow();row.className="note"}const d=row.insertCell();if(i===width)d.colSpan=width;
    d.textContent=c.text;if(typeof c.v==="number"){d.className="n";d.dataset.v=c.v}else if(c.style)d.className=c.style})}s.remove()}};
    let tables=[];
    const table=t=>{
    const heads=[...t.tHead.rows[0].cells],groups=[];
    for(const r of t.tBodies[0].rows)r.className==="note"?groups.at(-1).push(r):groups.push([r]);
    const search=document.createElement("input");search.type="search";search.placeholder="Find in these rows";
    search.setAttribute("aria-label",search.placeholder);
    search.addEventListener("input",()=>{const m=read();search.value?m.set(t.id+".q",search.value):m.delete(t.id+".q");write(m)});
    const old=t.parentNode.previousElementSibling;if(old&&old.type==="search")old.remove();
    if(groups.length>10)t.parentNode.before(search);
    for(const h of heads){if(!h.dataset.key||!h.textContent)continue;const b=document.createElement("button");b.textContent=h.textContent;h.replaceChildren(b);
    b.addEventListener("click",()=>{const k=t.id+".sort",m=read(),up=h.dataset.key,down="-"+up,first=h.className==="n"?down:up,second=h.className==="n"?up:down,now=m.get(k);
    if(now===first)m.set(k,second);else if(now===second)m.delete(k);else m.set(k,first);write(m)})}
    return{t,heads,groups,search,keys:heads.map(h=>h.dataset.key)}};
    const apply=()=>{const m=read();for(const{t,heads,groups,search,keys}of tables){
    const wanted=[...m].filter(([k])=>k.startsWith(t.id+".")).map(([k,v])=>[k.slice(t.id.length+1),v]);
    const q=(m.get(t.id+".q")||"").toLowerCase();if(search.value.toLowerCase()!==q)search.value=q;
    let order=groups;const sort=m.get(t.id+".sort");
    if(sort){const down=sort[0]==="-",i=keys.indexOf(down?sort.slice(1):sort);
    if(i>=0)order=[...groups].sort((a,b)=>{const x=value(a[0].cells[i]),y=value(b[0].cells[i]);return(x<y?-1:x>y?1:0)*(down?-1:1)})}
    heads.forEach((h,i)=>{const k=keys[i];h.setAttribute("aria-sort",sort===k?"ascending":sort==="-"+k?"descending":"none")});
    for(const g of order){const show=wanted.every(([k,v])=>{if(k==="q"||k==="sort")return true;const i=keys.indexOf(k);
    return i<0||g[0].cells[i].textContent===v})&&(!q||g.some(r=>r.textContent.toLowerCase().includes(q)));
    for(const r of g)r.hidden=!show;t.tBodies[0].append(...g)}}
    for(const a of document.querySelectorAll(".facets a")){const p=a.hash.slice(1),i=p.indexOf("=");
    a.toggleAttribute("aria-current",m.get(p.slice(0,i))===decodeURIComponent(p.slice(i+1)))}};
    const prepare=()=>{tables=[...document.querySelectorAll("table[id]")].map(table);
    for(const a of document.querySelectorAll(".facets a"))a.addEventListener("click",e=>{e.preventDefault();
    const p=a.hash.slice(1),i=p.indexOf("=");set(p.slice(0,i),decodeURIComponent(p.slice(i+1)))});apply()};
    addEventListener("hashchange",apply);addEventListener("refreshed",prepare);unpack();prepare();
    """
}
